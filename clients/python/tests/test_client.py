"""What Python has of its own: sources, downloads, threads and tasks, types."""

from __future__ import annotations

import io
import pickle
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from conftest import CLIENTS, Prepare

import mailvet
from mailvet import AsyncClient, AsyncGuard, Client, Guard
from mailvet._call import Call, Wire

TEXT = "Name,Email\nAda,ada@good.com\nBob,bob@good.com\n"


class Table:
    """As much of a table of pandas as the client uses."""

    def to_csv(self, *, index: bool) -> str:
        return TEXT if not index else ",Name,Email\n0,Ada,ada@good.com\n"


class PolarsTable:
    def write_csv(self) -> str:
        return TEXT


def rows() -> Iterator[dict[str, object]]:
    yield {"Name": 'Ada "A", L', "Email": "ada@good.com"}
    yield {"Email": "bob@good.com", "Name": None}


@pytest.fixture
def idle(prepare: Prepare) -> Iterator[Client]:
    values = prepare("lists-from-file")
    with Client(values["url"], values["key"]) as client:
        yield client


def test_lists_are_made_of_whatever_has_addresses(idle: Client, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text(TEXT)
    with path.open("rb") as binary, path.open() as text:
        sources: list[Any] = [
            *(str(path), path, TEXT.encode(), binary, text, io.BytesIO(TEXT.encode())),
            *(io.StringIO(TEXT), Table(), PolarsTable(), rows()),
            [["Name", "Email"], ("Ada", "ada@good.com"), ["Bob", "bob@good.com"]],
            *({"ada@good.com": 1, "bob@good.com": 2}.keys(), iter(["ada@good.com", "bob@good.com"])),
        ]
        for source in sources:
            made = idle.lists.create(source, start=False)
            assert (type(source), made.rows.addresses) == (type(source), 2)
            by_path = isinstance(source, (str, Path)) or source in (binary, text)
            assert (made.name == "people.csv") == by_path
    for wrong in (17, None, {"ada@good.com": 1}, [17]):
        with pytest.raises(TypeError, match="^The (items of the )?source must be"):
            idle.lists.create(wrong)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        idle.lists.create(tmp_path / "none.csv")


def test_a_large_list_is_sent_and_read_piece_by_piece(idle: Client) -> None:
    total = 20_000
    made = idle.lists.create(({"email": f"user{n}@good.com"} for n in range(total)), start=False)
    assert made.rows.total == total
    seen = [row.email for row in idle.lists.rows(made)]
    assert (len(seen), seen[-1]) == (total, f"user{total - 1}@good.com")
    with idle.lists.results(made) as download:
        assert len(b"".join(download.iter_bytes()).splitlines()) == total + 1


def test_a_refused_download_writes_no_file(idle: Client, tmp_path: Path) -> None:
    with pytest.raises(mailvet.errors.NotFoundError):
        idle.lists.results("lst_none").save(tmp_path / "results.csv")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(mailvet.errors.NotFoundError), idle.lists.results("lst_none"):
        pass


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_lists_are_made_and_read_without_blocking(
    prepare: Prepare, tmp_path: Path, backend: str
) -> None:
    if backend == "trio":
        pytest.importorskip("trio")
    values = prepare("lists-from-file")
    path = tmp_path / "people.csv"
    path.write_text(TEXT)

    async def main() -> None:
        async with AsyncClient(values["url"], values["key"]) as client:
            sources: list[Any] = [path, rows(), ["ada@good.com", "bob@good.com"], TEXT.encode()]
            for source in sources:
                made = await client.lists.create(source, start=False)
                assert made.rows.addresses == 2
            await client.lists.results(made).save(tmp_path / "results.csv")
            assert b"ada@good.com" in (tmp_path / "results.csv").read_bytes()
            with pytest.raises(mailvet.errors.NotFoundError):
                await client.lists.results("lst_none").read()

    anyio.run(main, backend=backend)


def test_the_time_limit_is_that_of_the_whole_call(prepare: Prepare) -> None:
    values = prepare("guard-hangs")
    client = Client(values["url"], values["key"], timeout=0.05)
    with pytest.raises(mailvet.TimedOutError, match="within 0.05 seconds"):
        client.usage()
    for wrong in (0, -1, float("nan"), "5", True):
        with pytest.raises(ValueError, match="^timeout must be"):
            client.usage(timeout=wrong)  # type: ignore[arg-type]


def test_a_client_of_the_caller_is_used_and_stays_open(prepare: Prepare) -> None:
    values = prepare("usage")
    with httpx.Client(headers={"x-own": "1"}, follow_redirects=True) as own:
        with Client(values["url"], values["key"], http_client=own) as client:
            assert client.usage().credits.used == 0
        assert not own.is_closed
    values = prepare("no-redirects")
    with httpx.Client(follow_redirects=True) as own:
        with pytest.raises(mailvet.RedirectedError):
            Client(values["url"], values["key"], http_client=own).usage()


def test_a_form_that_is_sent_twice_at_once_is_charged_once(prepare: Prepare) -> None:
    values = prepare("verify")
    guard = Guard(values["url"], values["key"], timeout=30)
    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(guard, ["ada@good.com"] * 8))
    assert {outcome.code for outcome in outcomes} == {"accepted"}

    async def main() -> None:
        async with AsyncGuard(values["url"], values["key"], timeout=30) as check:
            async with anyio.create_task_group() as tasks:
                for _ in range(8):
                    tasks.start_soon(check, "bob@good.com")

    anyio.run(main)
    with Client(values["url"], values["key"]) as client:
        totals = client.usage().totals
        assert totals is not None and totals.requests == len({id(one) for one in outcomes}) + 1


def test_a_check_goes_on_where_the_first_of_two_is_given_up(prepare: Prepare) -> None:
    values = prepare("guard-accepts")
    codes: list[str] = []

    async def main() -> None:
        async with AsyncGuard(values["url"], values["key"], timeout=30) as check:

            async def second() -> None:
                codes.append((await check("ada@example.com")).code)

            async with anyio.create_task_group() as outer:
                async with anyio.create_task_group() as first:
                    first.start_soon(check, "ada@example.com")
                    outer.start_soon(second)
                    await anyio.sleep(0)
                    first.cancel_scope.cancel()

    anyio.run(main)
    assert codes == ["accepted"]


def test_the_guard_logs_without_address_and_key(caplog: pytest.LogCaptureFixture) -> None:
    assert Guard("http://127.0.0.1:9", "mv_live_secret")("ada@good.com").code == "unverified"
    (record,) = caplog.records
    assert (record.name, record.levelname) == ("mailvet", "ERROR")
    assert "(unreachable)" in record.getMessage()
    assert "mv_live" not in record.getMessage() and "ada" not in record.getMessage()


def test_a_guard_accepts_whatever_goes_wrong(prepare: Prepare) -> None:
    values = prepare("unknown-fields")
    failures: list[Exception] = []
    guard = Guard(values["url"], values["key"], policy="signup", on_error=failures.append)
    assert guard("ada@good.com").code == "unverified"
    assert str(failures[0]) == "The reply has no decision of the policy signup."


def test_what_a_later_version_sends_is_kept() -> None:
    data = {"id": 7, "checks": {"syntax": "later"}, "from_later": [1]}
    verdict = mailvet.models.Verification.from_dict(data)
    assert verdict.extra == {"from_later": [1]}
    assert (verdict.checks.raw["syntax"], verdict.checks.extra) == ("later", {})
    assert repr(verdict.checks.syntax) == "'later'"
    assert verdict.to_dict() == data and verdict.email is None


def test_a_reply_that_is_nested_too_deeply_did_not_come_from_the_service() -> None:
    wire = Wire("http://localhost", "k", 35, 0)
    with pytest.raises(mailvet.MailvetError) as raised:
        wire.read(Call("GET", "/v1/usage"), 200, b"[" * 200_000)
    assert raised.value.code == "unexpected_reply"


def test_errors_can_be_sent_to_other_processes() -> None:
    error = mailvet.errors.NotFoundError(404, {"error": "None.", "code": "not_found", "id": 1})
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.details) == (type(error), "None.", error.details)


def test_types_are_complete() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "mypy"], cwd=CLIENTS / "python", capture_output=True, text=True
    )
    assert (ran.returncode, ran.stdout.splitlines()[-1][:7]) == (0, "Success"), ran.stdout
