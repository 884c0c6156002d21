"""Decides whether an address may sign up."""

from __future__ import annotations

import logging
import re
import threading
import time
import unicodedata
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal

import anyio
import httpx
import idna

from ._error import MailvetError
from .client import AsyncClient, Client
from .models import Verification

Action = Literal["accept", "reject"]

MESSAGES: Mapping[str, str] = {
    "invalid_address": "Enter a valid email address.",
    "did_you_mean": "Did you mean {suggestion}?",
    "blocked": "This email address cannot be used here.",
    "disposable": "Use a permanent email address.",
    "undeliverable": "This email address cannot receive mail.",
    "role": "Use a personal email address.",
    "catch_all": "This email address could not be confirmed. Use another one.",
    "unknown": "This email address could not be confirmed. Try again later, or use another one.",
}

TIMEOUT = 4.0
# Seconds left for the way there and back, and the least and most that the service takes for a check.
_TRANSFER = 1.0
_CHECK = (1.0, 30.0)
# In characters: 64, an @ and 255 (RFC 5321 section 4.5.3.1). What is longer need not be sent.
_LONGEST_ADDRESS = 320
_LONGEST_FORWARDED = 100
_LONGEST_LANGUAGE = 200
# Seconds in which a suggestion is remembered, long enough to correct a form, and how many are.
_OFFERED_FOR = 15 * 60.0
_OFFERED_MOST = 10_000

_log = logging.getLogger("mailvet")


@dataclass(frozen=True)
class Outcome:
    """What the guard says of an address."""

    ok: bool
    code: str
    """
    ``accepted``; ``review``: the policy accepts it, to be looked at later; ``unverified``: there
    was no verdict. Else why it is rejected: ``invalid_address``, ``did_you_mean``, ``blocked``,
    ``disposable``, ``undeliverable``, ``role``, ``catch_all``, ``unknown``, or of a policy
    ``relay``, ``free``, ``full``, ``tag``, ``seen_before``, ``outage``.
    """
    email: str | None
    """
    The address to store, None unless ``ok``: what was judged, rather than what was typed. Without
    blanks and invisible characters around it, its domain in lower-case ASCII.
    """
    message: str | None
    """For the user, where the address is rejected."""
    suggestion: str | None
    """An address to offer; never use it without the user's consent."""
    result: Verification | None
    """The verdict, if there was one."""


@dataclass(frozen=True)
class _Question:
    email: str
    client_ip: str | None
    language: str | None
    confirmed: bool


class _Rules:
    """What both guards have in common, without any input or output."""

    def __init__(
        self,
        *,
        policy: str | None,
        scope: str | None,
        validation_type: Literal["mx", "smtp"] | None,
        disposable: Action | None,
        role: Action | None,
        catch_all: Action | None,
        unknown: Action | None,
        suggestions: Literal["offer", "ignore"] | None,
        messages: Mapping[str, str] | None,
        on_error: Callable[[Exception], object] | None,
        timeout: float,
    ) -> None:
        actions = {
            "disposable": disposable,
            "role": role,
            "catch_all": catch_all,
            "unknown": unknown,
        }
        for name, action in actions.items():
            _one_of(name, action, ("accept", "reject"))
        _one_of("validation_type", validation_type, ("mx", "smtp"))
        _one_of("suggestions", suggestions, ("offer", "ignore"))
        own: dict[str, object] = {"validation_type": validation_type, **actions}
        _check_policy(policy, own | {"suggestions": suggestions, "messages": messages})
        if scope is not None and not re.fullmatch(r"[a-z0-9_.-]{1,64}", scope):
            raise ValueError('scope must be a short name of a to z, 0 to 9, "_", "." and "-".')
        for code in messages or {}:
            if code not in MESSAGES:
                raise ValueError(f"messages has no code {code}; it has {', '.join(MESSAGES)}.")
        self.policy = policy
        self.scope = scope
        self._validation_type = validation_type or "mx"
        self._rejects = {
            name: (action or default) == "reject"
            for (name, action), default in zip(
                actions.items(), ("reject", "accept", "accept", "accept")
            )
        }
        self._ignores_suggestions = suggestions == "ignore"
        self._messages = {**MESSAGES, **(messages or {})}
        self._on_error = on_error or _report
        self._timeout_ms = int(min(max(timeout - _TRANSFER, _CHECK[0]), _CHECK[1]) * 1000)
        self._offered = _Offered()

    def question(
        self, email: object, client_ip: str | None, language: str | None, confirmed: bool
    ) -> _Question | Outcome:
        """What to ask the service; what cannot be an address is answered at once."""
        text = _trimmed(email) if isinstance(email, str) else ""
        if text == "" or len(text) > _LONGEST_ADDRESS:
            return self._rejected("invalid_address")
        return _Question(text, _address_in(client_ip), _language_in(language), confirmed)

    def may_accept(self, question: _Question) -> bool:
        """Whoever sends an address again has seen its suggestion."""
        return (
            question.confirmed
            or self._ignores_suggestions
            or self._offered.get(question.email) is not None
        )

    def remembered(self, question: _Question, may_accept: bool) -> Verification | None:
        """What was remembered at the first attempt would be seen at the second."""
        if not may_accept or self.scope is None:
            return None
        return self._offered.get(question.email)

    def request(self, question: _Question, client_ip: str | None) -> dict[str, Any]:
        """Arguments of ``verify``."""
        by: dict[str, Any] = {"validation_type": self._validation_type}
        if self.policy is not None:
            by = {"policy": self.policy, "language": question.language}
        return {
            "email": question.email,
            "timeout_ms": self._timeout_ms,
            "scope": self.scope,
            "client_ip": client_ip,
            **by,
        }

    def decide(self, result: Verification, question: _Question, may_accept: bool) -> Outcome:
        if self.policy is not None:
            return self._follow(result, may_accept)
        if result.did_you_mean is not None and not may_accept:
            self._offered.add(question.email, result)
            return self._rejected("did_you_mean", result)
        code = self._rejection(result)
        if code is not None:
            return self._rejected(code, result)
        stored = result.normalized_email or question.email
        return Outcome(True, "accepted", stored, None, None, result)

    def _follow(self, result: Verification, may_accept: bool) -> Outcome:
        """As the policy says. A typo to be reviewed is offered for correction first."""
        decision = result.decision
        # A service of an earlier version does not know the field.
        if decision is None:
            text = f"The reply has no decision of the policy {self.policy}."
            raise MailvetError(200, {"error": text})
        stored = result.normalized_email or result.email
        suggestion = result.did_you_mean
        message = decision.message or ""
        because = decision.because or []
        if decision.action == "reject":
            return Outcome(False, _code_of(because, result), None, message, suggestion, result)
        if decision.action == "accept":
            return Outcome(True, "accepted", stored, None, suggestion, result)
        if "typo" in because and suggestion is not None and not may_accept:
            self._offered.add(result.email, result)
            return Outcome(False, "did_you_mean", None, message, suggestion, result)
        return Outcome(True, "review", stored, None, suggestion, result)

    def without_verdict(self, error: Exception, email: str) -> Outcome:
        """As the policy says, where the service could tell; else the address is accepted."""
        unverified = None if _rejected_field(error) == "email" else _plausible(email)
        if unverified is None:
            return self._rejected("invalid_address")
        self._on_error(error)
        decision = error.details.get("decision") if isinstance(error, MailvetError) else None
        said = decision if isinstance(decision, Mapping) else {}
        if said.get("action") == "reject":
            return Outcome(False, "outage", None, str(said.get("message") or ""), None, None)
        code = "review" if said.get("action") == "review" else "unverified"
        return Outcome(True, code, unverified, None, None, None)

    def _rejection(self, result: Verification) -> str | None:
        if result.reason == "invalid_format":
            return "invalid_address"
        if result.reason == "blocked_by_filter":
            return "blocked"
        if result.is_disposable and self._rejects["disposable"]:
            return "disposable"
        if result.deliverability == "undeliverable":
            return "undeliverable"
        if result.is_role and self._rejects["role"]:
            return "role"
        if result.is_catch_all is True and self._rejects["catch_all"]:
            return "catch_all"
        # Without a reason, the mailbox was not asked for: ``mx`` says nothing about it.
        is_unknown = result.deliverability == "unknown" and result.reason is not None
        return "unknown" if is_unknown and self._rejects["unknown"] else None

    def _rejected(self, code: str, result: Verification | None = None) -> Outcome:
        suggestion = None if result is None else result.did_you_mean
        message = self._messages[code].replace("{suggestion}", suggestion or "")
        return Outcome(False, code, None, message, suggestion, result)


class Guard:
    """
    Decides whether an address may sign up. Outages and errors of the service accept the address,
    unverified, so that they do not stop sign-ups; what is not an address is rejected even then.
    Make one and call it from any number of threads.

    Args:
        url: As of ``Client``.
        key: As of ``Client``.
        policy: Name of the policy of the account that decides, in place of all options below but
            ``scope``, ``timeout`` and ``on_error``.
        scope: Your name for the place where a mailbox may count once, such as ``signup``.
        validation_type: ``mx`` by default; ``smtp`` also asks the mail server.
        timeout: Seconds after which an address is accepted unverified.
        disposable: Disposable addresses; ``reject`` by default.
        role: Shared mailboxes such as ``info@``; ``accept`` by default.
        catch_all: Domains that accept every mailbox; ``accept`` by default.
        unknown: Addresses about which a check gave no answer; ``accept`` by default.
        suggestions: Whether a likely typo is offered for correction once; ``offer`` by default.
        messages: Replaces messages by code; ``{suggestion}`` stands for the suggested address.
        on_error: Called with the error where an address was accepted unverified; by default it is
            logged by the logger ``mailvet``, without the address.
        http_client: As of ``Client``.

    Raises ValueError for options that cannot be used.
    """

    def __init__(
        self,
        url: str | None,
        key: str | None,
        *,
        policy: str | None = None,
        scope: str | None = None,
        validation_type: Literal["mx", "smtp"] | None = None,
        timeout: float = TIMEOUT,
        disposable: Action | None = None,
        role: Action | None = None,
        catch_all: Action | None = None,
        unknown: Action | None = None,
        suggestions: Literal["offer", "ignore"] | None = None,
        messages: Mapping[str, str] | None = None,
        on_error: Callable[[Exception], object] | None = None,
        http_client: httpx.Client | None = None,
    ) -> None:
        self._client = Client(url, key, timeout=timeout, http_client=http_client)
        self._rules = _Rules(
            policy=policy,
            scope=scope,
            validation_type=validation_type,
            disposable=disposable,
            role=role,
            catch_all=catch_all,
            unknown=unknown,
            suggestions=suggestions,
            messages=messages,
            on_error=on_error,
            timeout=timeout,
        )
        self._flights: dict[_Question, Future[Outcome]] = {}
        self._lock = threading.Lock()

    def __call__(
        self,
        email: object,
        *,
        client_ip: str | None = None,
        language: str | None = None,
        confirmed: bool = False,
    ) -> Outcome:
        """
        Checks one address. A form that is sent twice at once is checked and charged once.

        Args:
            email: What the user typed. What is no text is not an address.
            client_ip: The user's IP address, which filters match, as a framework or a proxy reports
                it: with a port, or a list as in X-Forwarded-For, whose first address counts.
            language: Of the messages of a policy: a tag such as ``de``, or the value of the user's
                Accept-Language header.
            confirmed: The user has seen the suggestion and keeps the address.
        """
        question = self._rules.question(email, client_ip, language, confirmed)
        if isinstance(question, Outcome):
            return question
        with self._lock:
            flight = self._flights.get(question)
            is_first = flight is None
            if flight is None:
                flight = self._flights[question] = Future()
        if not is_first:
            return flight.result()
        try:
            outcome = self._decide(question)
            flight.set_result(outcome)
        except BaseException as error:
            flight.set_exception(error)
            raise
        finally:
            with self._lock:
                del self._flights[question]
        return outcome

    def _decide(self, question: _Question) -> Outcome:
        may_accept = self._rules.may_accept(question)
        try:
            result = self._rules.remembered(question, may_accept) or self._verify(question)
            return self._rules.decide(result, question, may_accept)
        # Whatever it is: it must not stop a sign-up.
        except Exception as error:
            return self._rules.without_verdict(error, question.email)

    def _verify(self, question: _Question) -> Verification:
        try:
            return self._client.verify(**self._rules.request(question, question.client_ip))
        except MailvetError as error:
            # Without the address of the user rather than without a verdict.
            if question.client_ip is None or _rejected_field(error) != "client_ip":
                raise
        return self._client.verify(**self._rules.request(question, None))

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()

    def __enter__(self) -> Guard:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class AsyncGuard:
    """The same as ``Guard``, with calls that are awaited, on asyncio and trio."""

    def __init__(
        self,
        url: str | None,
        key: str | None,
        *,
        policy: str | None = None,
        scope: str | None = None,
        validation_type: Literal["mx", "smtp"] | None = None,
        timeout: float = TIMEOUT,
        disposable: Action | None = None,
        role: Action | None = None,
        catch_all: Action | None = None,
        unknown: Action | None = None,
        suggestions: Literal["offer", "ignore"] | None = None,
        messages: Mapping[str, str] | None = None,
        on_error: Callable[[Exception], object] | None = None,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        self._client = AsyncClient(url, key, timeout=timeout, http_client=http_client)
        self._rules = _Rules(
            policy=policy,
            scope=scope,
            validation_type=validation_type,
            disposable=disposable,
            role=role,
            catch_all=catch_all,
            unknown=unknown,
            suggestions=suggestions,
            messages=messages,
            on_error=on_error,
            timeout=timeout,
        )
        self._flights: dict[_Question, _Flight] = {}

    async def __call__(
        self,
        email: object,
        *,
        client_ip: str | None = None,
        language: str | None = None,
        confirmed: bool = False,
    ) -> Outcome:
        """Checks one address, as ``Guard`` does."""
        question = self._rules.question(email, client_ip, language, confirmed)
        if isinstance(question, Outcome):
            return question
        while (flight := self._flights.get(question)) is not None:
            await flight.ended.wait()
            # Where the first one was given up, the next one takes its place.
            if flight.outcome is not None:
                return flight.outcome
        flight = self._flights[question] = _Flight()
        try:
            flight.outcome = await self._decide(question)
            return flight.outcome
        finally:
            del self._flights[question]
            flight.ended.set()

    async def _decide(self, question: _Question) -> Outcome:
        may_accept = self._rules.may_accept(question)
        try:
            found = self._rules.remembered(question, may_accept)
            result = found or await self._verify(question)
            return self._rules.decide(result, question, may_accept)
        # Whatever it is: it must not stop a sign-up.
        except Exception as error:
            return self._rules.without_verdict(error, question.email)

    async def _verify(self, question: _Question) -> Verification:
        try:
            return await self._client.verify(**self._rules.request(question, question.client_ip))
        except MailvetError as error:
            # Without the address of the user rather than without a verdict.
            if question.client_ip is None or _rejected_field(error) != "client_ip":
                raise
        return await self._client.verify(**self._rules.request(question, None))

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._client.aclose()

    async def __aenter__(self) -> AsyncGuard:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()


class _Flight:
    """A check under way. Whoever sends the same meanwhile, as a double click does, waits for it."""

    def __init__(self) -> None:
        self.ended = anyio.Event()
        self.outcome: Outcome | None = None


class _Offered:
    """
    Addresses whose suggestion was answered: whoever begins to send one after that has seen it, and
    keeps the address. In memory, so ``confirmed`` is surer where there are many processes.
    """

    def __init__(self) -> None:
        # In the order of their ends, as all last equally long.
        self._until: dict[str, tuple[float, Verification]] = {}
        self._lock = threading.Lock()

    def get(self, email: str) -> Verification | None:
        with self._lock:
            end, result = self._until.get(email.lower(), (0.0, None))
        return result if end > time.monotonic() else None

    def add(self, email: str, result: Verification) -> None:
        now = time.monotonic()
        with self._lock:
            self._until.pop(email.lower(), None)
            for name, (end, _) in list(self._until.items()):
                if end > now and len(self._until) < _OFFERED_MOST:
                    break
                del self._until[name]
            self._until[email.lower()] = (now + _OFFERED_FOR, result)


def _one_of(name: str, value: object, values: tuple[str, ...]) -> None:
    if value is not None and value not in values:
        raise ValueError(f"{name} must be {' or '.join(repr(one) for one in values)}.")


def _check_policy(policy: object, own: Mapping[str, object]) -> None:
    if policy is None:
        return
    if not isinstance(policy, str) or policy == "":
        raise ValueError("policy must be the name of a policy.")
    for name, value in own.items():
        if value is not None:
            raise ValueError(
                f"policy and {name} cannot be combined: "
                "the policy says it, in the dashboard or the API."
            )


def _report(error: Exception) -> None:
    code = error.code if isinstance(error, MailvetError) else type(error).__name__
    _log.error("an address was accepted unverified (%s): %s", code, error)


def _rejected_field(error: Exception) -> str | None:
    """The field that the service could not take."""
    return error.field if isinstance(error, MailvetError) and error.status == 400 else None


def _code_of(because: list[Any], result: Verification) -> str:
    """Codes of a policy's grounds; a ground of a later version is its own code."""
    ground = str(because[0]) if because else "unknown"
    if ground == "typo":
        return "did_you_mean"
    if ground != "undeliverable":
        return ground
    if result.reason == "invalid_format":
        return "invalid_address"
    return "blocked" if result.reason == "blocked_by_filter" else ground


# Of one part between dots: without a quoted local part, and of a domain in any script.
_WORD = r'[^\s"(),.:;<>@\[\\\]]+'
# Not with IGNORECASE, by which signs outside of ASCII are equal to letters within.
_LABEL = r"[-0-9A-Za-z\u0080-\U0010ffff]+"
# A domain has a dot; those of other scripts are not ASCII.
_ADDRESS = re.compile(
    rf'("[\s\S]*"|{_WORD}(\.{_WORD})*)@(?=[\s\S]*[.\u0080-\U0010ffff]){_LABEL}(\.{_LABEL})*'
)
# White space, zero-width characters and marks of direction, which the service drops around an
# address as well.
_BLANKS = frozenset(
    "\t\n\v\f\r \x85\xa0\u1680\u180e\u2028\u2029\u202f\u205f\u3000\ufeff"
    + "".join(map(chr, [*range(0x2000, 0x2010), *range(0x202A, 0x202F)]))
    + "".join(map(chr, [*range(0x2060, 0x2065), *range(0x2066, 0x206A)]))
)


def _trimmed(text: str) -> str:
    return text.strip("".join(_BLANKS))


def _plausible(email: str) -> str | None:
    """
    For want of a verdict: the address to store, its domain in ASCII (UTS 46). None only for what
    the service would never take for an address.
    """
    local, _, domain = email.rpartition("@")
    # Controls and what nobody sees, which the service refuses within a local part.
    hidden = any(unicodedata.category(one) in ("Cc", "Cf", "Co", "Cs") for one in local)
    if hidden or not _ADDRESS.fullmatch(email):
        return None
    if re.fullmatch(r"[\x20-\x7e]*", domain):
        return f"{local}@{domain.lower()}"
    try:
        return f"{local}@{idna.encode(domain, uts46=True).decode()}"
    except (idna.IDNAError, UnicodeError):
        return None


def _language_in(language: object) -> str | None:
    """A longer one than the service takes is left out, rather than the verdict."""
    is_one = isinstance(language, str) and 0 < len(language) <= _LONGEST_LANGUAGE
    return language if is_one else None  # type: ignore[return-value]


def _address_in(text: object) -> str | None:
    """
    The first address of a list such as X-Forwarded-For, without port, brackets and zone; None where
    it cannot be one. The service judges it, so this need not be exact.
    """
    first = text.split(",", 1)[0] if isinstance(text, str) else ""
    # Anybody may send such a header.
    if len(first) > _LONGEST_FORWARDED:
        return None
    address = first.strip().removeprefix('"').removesuffix('"')
    address = re.sub(r"\A\[([^\]]*)\](:[0-9]+)?\Z", r"\1", address)
    address = re.sub(r"\A([0-9.]+):[0-9]+\Z", r"\1", address)
    address = address.split("%", 1)[0]
    is_address = re.fullmatch(
        r"[0-9]{1,3}(\.[0-9]{1,3}){3}|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*", address
    )
    return address if is_address and len(address) <= 45 else None
