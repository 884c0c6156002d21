"""Starts what the cases of all clients run against, once for all tests."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

CLIENTS = Path(__file__).resolve().parents[2]
Prepare = Callable[[str], dict[str, Any]]


@pytest.fixture(scope="session")
def stage() -> Iterator[str]:
    """The address of the server that prepares cases."""
    command = ["node", str(CLIENTS / "server.mjs")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None and server.stdout is not None
        try:
            yield json.loads(server.stdout.readline())["url"]
        finally:
            server.stdin.close()
            server.wait(30)


@pytest.fixture(scope="session")
def prepare(stage: str) -> Prepare:
    """Prepares the case of an id anew, and returns its values."""

    def prepared(case: str) -> dict[str, Any]:
        reply = httpx.get(f"{stage}/cases/{case}", timeout=60)
        reply.raise_for_status()
        values: dict[str, Any] = reply.json()
        return values

    return prepared
