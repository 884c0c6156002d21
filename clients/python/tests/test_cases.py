"""The cases of all clients (clients/README.md), with the client and with the one that is awaited."""

from __future__ import annotations

import inspect
import json
import keyword
import re
import traceback
from collections.abc import AsyncIterator, Iterator
from typing import Any

import anyio
import httpx
import pytest
from conftest import CLIENTS, Prepare

import mailvet
from mailvet._model import Model

CASES: list[dict[str, Any]] = json.loads((CLIENTS / "cases.json").read_bytes())["cases"]
ABSENT = object()
Values = dict[str, Any]
RAN: dict[str, list[str]] = {"Client": [], "AsyncClient": []}


class SourceFailed(Exception):
    """What a source of a case fails with."""


def filled(value: Any, values: Values) -> Any:
    """``{{name}}`` alone is the value itself; within a text it is its text."""
    if isinstance(value, str):
        alone = re.fullmatch(r"\{\{(\w+)\}\}", value)
        if alone:
            return values[alone[1]]
        return re.sub(r"\{\{(\w+)\}\}", lambda found: str(values[found[1]]), value)
    if isinstance(value, list):
        return [filled(one, values) for one in value]
    if isinstance(value, dict):
        return {name: filled(one, values) for name, one in value.items()}
    return value


def differences(expected: Any, actual: Any, path: str, same: Values) -> Iterator[str]:
    """Why ``actual`` is not what the case expects."""
    differs = f"{path}: {actual!r} instead of {expected!r}"
    if isinstance(expected, list):
        if not isinstance(actual, list) or len(actual) != len(expected):
            yield differs
            return
        for n, one in enumerate(expected):
            yield from differences(one, actual[n], f"{path}[{n}]", same)
    elif isinstance(expected, dict):
        matchers = {name: by for name, by in expected.items() if name.startswith("$")}
        for name, by in matchers.items():
            if not matches(name, by, actual, same):
                yield differs
        if matchers:
            return
        if not isinstance(actual, dict):
            yield differs
            return
        for name, one in expected.items():
            yield from differences(one, actual.get(name, ABSENT), f"{path}.{name}", same)
    elif actual is ABSENT or type(actual) is not type(expected) or actual != expected:
        is_number = isinstance(expected, int) and isinstance(actual, float) and actual == expected
        if not is_number:
            yield differs


def matches(name: str, by: Any, actual: Any, same: Values) -> bool:
    if name == "$matches":
        return isinstance(actual, str) and re.search(by, actual) is not None
    if name == "$lacks":
        return isinstance(actual, str) and by not in actual
    if name == "$above":
        return isinstance(actual, (int, float)) and actual > by
    if name == "$absent":
        return actual is ABSENT
    if name == "$json":
        return not list(differences(by, json.loads(actual), "", same))
    if name == "$same":
        return bool(same.setdefault(by, actual) == actual)
    raise AssertionError(f"There is no matcher {name}.")


def plain(value: Any) -> Any:
    """As JSON has it."""
    if isinstance(value, Model):
        # What it has as attributes is what it was sent, but for what is not there.
        for name, sent in value.raw.items():
            if name in value.__dataclass_fields__:
                assert plain(getattr(value, name)) == sent
            elif name + "_" not in value.__dataclass_fields__:
                assert value.extra[name] == sent
        return value.to_dict()
    if isinstance(value, mailvet.Outcome):
        fields = ("ok", "code", "email", "message", "suggestion", "result")
        return {name: plain(getattr(value, name)) for name in fields}
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    return value


def seconds(options: Values) -> Values:
    """The client takes seconds."""
    own = {name: value for name, value in options.items() if name != "timeout_ms"}
    return own | ({"timeout": options["timeout_ms"] / 1000} if "timeout_ms" in options else {})


class NamedFile:
    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self._left = text.encode()

    def read(self, size: int) -> bytes:
        piece, self._left = self._left[:size], self._left[size:]
        return piece


def source_of(source: Values, is_async: bool) -> Any:
    if "addresses" in source:
        return source["addresses"]
    if "file" in source:
        return NamedFile(source["file"]["name"], source["file"]["text"])

    def pieces() -> Iterator[bytes]:
        for text in source["stream"]:
            yield text.encode()
        if "fails" in source:
            raise SourceFailed(source["fails"])

    async def async_pieces() -> AsyncIterator[bytes]:
        for piece in pieces():
            yield piece

    return async_pieces() if is_async else pieces()


class Performer:
    """One run of a case, with one of the two clients."""

    def __init__(self, is_async: bool, case: Values, values: Values) -> None:
        self.is_async = is_async
        given = {"url": "{{url}}", "key": "{{key}}", **case.get("client", {})}
        self._client_options = seconds(filled(given, values))
        self._guard_options = seconds(case.get("guard", {}))
        self._values = values
        self._client: Any = None
        self._guard: Any = None
        self.looks = 0
        self.reported: list[str] = []

    @property
    def client(self) -> Any:
        if self._client is None:
            kind = mailvet.AsyncClient if self.is_async else mailvet.Client
            self._client = kind(**self._client_options)
        return self._client

    @property
    def guard(self) -> Any:
        if self._guard is None:
            kind = mailvet.AsyncGuard if self.is_async else mailvet.Guard
            url, key = self._client_options["url"], self._client_options["key"]
            self._guard = kind(url, key, on_error=self._report, **self._guard_options)
        return self._guard

    def _report(self, error: Exception) -> None:
        self.reported.append(error.code if isinstance(error, mailvet.MailvetError) else repr(error))

    async def close(self) -> None:
        for one in (self._client, self._guard):
            if one is not None:
                await settled(one.aclose() if self.is_async else one.close())

    async def perform(self, name: str, arguments: Values) -> Any:
        special = getattr(self, "_" + SPECIAL.get(name, name.replace(".", "_")), None)
        if special is not None:
            return await special(**arguments)
        call = self.client
        for part in name.split("."):
            call = getattr(call, part + "_" if keyword.iskeyword(part) else part)
        if "source" in arguments:
            arguments["source"] = source_of(arguments["source"], self.is_async)
        if "list" in arguments and name not in ("lists.wait", "lists.rows"):
            arguments["id"] = arguments.pop("list")
        if name == "verify":
            arguments = seconds(arguments)
        return await settled(call(**arguments))

    async def _client_made(self) -> None:
        assert self.client is not None

    async def _lists_wait(self, list: str, interval_ms: int = 2000) -> Any:
        def look(_: object) -> None:
            self.looks += 1

        wait = self.client.lists.wait(list, interval=interval_ms / 1000, on_progress=look)
        return await settled(wait)

    async def _lists_results(self, list: str, **query: Any) -> Any:
        return await settled(self.client.lists.results(list, **query).read())

    async def _filters_export(self) -> Any:
        return await settled(self.client.filters.export().read())

    async def _policies_list(self) -> Any:
        return (await settled(self.client.policies.list())).policies

    async def _webhooks_list(self) -> Any:
        return (await settled(self.client.webhooks.list())).webhooks

    async def _policies_remove(self, name: str) -> None:
        await settled(self.client.policies.remove(name))

    async def _webhooks_remove(self, id: str) -> None:
        await settled(self.client.webhooks.remove(id))

    async def _webhooks_replay(self, delivery: str) -> Any:
        return await settled(self.client.webhooks.replay(delivery))

    async def _verify_webhook(
        self,
        secret: Any,
        payload: str = "",
        headers: Any = None,
        received: int | None = None,
        tolerance_seconds: float = 300,
    ) -> Any:
        if received is not None:
            request = httpx.get(self._values["requests"]).json()[received]
            payload, headers = request["body"], request["headers"]
        body: Any = payload.encode() if self.is_async else payload
        return mailvet.verify_webhook(body, headers, secret, tolerance=tolerance_seconds)

    async def _guard_checked(self, email: object, **check: Any) -> Any:
        return await settled(self.guard(email, **check))



SPECIAL = {"client": "client_made", "guard": "guard_checked"}


async def settled(value: Any) -> Any:
    """The value of a call, awaited or collected."""
    if inspect.isawaitable(value):
        return await value
    if hasattr(value, "__aiter__"):
        return [one async for one in value]
    return list(value) if isinstance(value, Iterator) else value


def thrown(error: Exception) -> Values:
    """What a call raised, in the words of the cases."""
    if isinstance(error, mailvet.MailvetError):
        names = ("status", "code", "message", "field", "retry_after", "request_id", "details")
        said = "".join(traceback.format_exception(error)) + repr(error)
        by_code = mailvet.errors.BY_CODE.get(error.code)
        assert by_code is None or type(error) is by_code
        return {"error": {name: getattr(error, name) for name in names} | {"text": said}}
    if isinstance(error, mailvet.WebhookVerificationError):
        return {"forged": str(error)}
    if isinstance(error, ValueError):
        return {"misuse": str(error)}
    if isinstance(error, SourceFailed):
        return {"fails": str(error)}
    raise error


async def take(step: Values, by: Performer, values: Values, where: str) -> None:
    by.looks = 0
    by.reported.clear()
    try:
        outcome = {"reply": plain(await by.perform(step["call"], filled(step.get("arguments", {}), values)))}
    except Exception as error:
        outcome = thrown(error)
    for name in ("misuse", "forged"):
        if name in step:
            assert list(outcome) == [name], (where, outcome)
            assert re.search(step[name], outcome[name]), (where, outcome)
    for name in ("reply", "error", "fails"):
        if name in step:
            assert list(outcome) == [name], (where, outcome)
            found = differences(filled(step[name], values), outcome[name], where, {})
            assert list(found) == []
    if "looks" in step:
        assert list(differences(step["looks"], by.looks, where, {})) == []
    if "reported" in step:
        assert (where, by.reported) == (where, step["reported"])
    for name, field in step.get("save", {}).items():
        values[name] = outcome["reply"][field]


async def run_case(case: Values, values: Values, is_async: bool) -> None:
    by = Performer(is_async, case, values)
    try:
        for n, step in enumerate(case["steps"]):
            await take(step, by, values, f"{case['id']}, step {n + 1}, {step['call']}")
    finally:
        await by.close()
    if "requests" in case:
        requests = httpx.get(values["requests"]).json()
        assert list(differences(case["requests"], requests, "requests", {})) == []


@pytest.mark.parametrize("kind", ["Client", "AsyncClient"])
@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_case(case: Values, kind: str, prepare: Prepare) -> None:
    anyio.run(run_case, case, prepare(case["id"]), kind == "AsyncClient")
    RAN[kind].append(case["id"])


def test_every_case_was_run(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("keyword") or len(request.session.items) < len(CASES):
        pytest.skip("only a part was asked for")
    ids = {case["id"] for case in CASES}
    assert {kind: set(ran) for kind, ran in RAN.items()} == {kind: ids for kind in RAN}
