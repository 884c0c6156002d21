"""The clients: one that blocks, and one that is awaited."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterator
from types import TracebackType
from typing import Any

import anyio
import httpx

from . import _async_calls, _calls, models
from ._call import TIMEOUT, HasId, Wire, foreign
from ._transport import AsyncTransport, Transport

# Rows and filters of a page: the most that the service sends.
_ROWS = 1000
_FILTERS = 100
# Seconds between looks at a list.
_INTERVAL = 2.0
_UNDER_WAY = ("running", "paused")


def _next(page: models.ListRows, after: int) -> int | None:
    """A proxy that always sends the same page would be asked without end."""
    if page.next is not None and page.next <= after:
        raise foreign(200)
    return page.next


def _address_to_forget(email: object) -> str:
    """Without one, the service would forget the whole scope."""
    if not isinstance(email, str) or email == "":
        raise ValueError("email must be an address.")
    return email


class Seen(_calls.SeenCalls):
    """Mailboxes that ``verify`` was told to remember in a ``scope``."""

    def forget(self, scope: str, email: str, *, timeout: float | None = None) -> models.Forgotten:
        """Forgets one mailbox in a scope, in any spelling, such as that of a deleted user."""
        return self._forget(scope, email=_address_to_forget(email), timeout=timeout)

    def forget_scope(self, scope: str, *, timeout: float | None = None) -> models.Forgotten:
        """Forgets every mailbox of a scope."""
        return self._forget(scope, timeout=timeout)


class Filters(_calls.FiltersCalls):
    """Addresses, domains and networks that are blocked or allowed."""

    def all(
        self,
        *,
        filter_type: Any = None,
        query: str | None = None,
        per_page: int = _FILTERS,
        timeout: float | None = None,
    ) -> Iterator[models.Filter]:
        """
        Every matching filter once, newest first, fetched page by page. Collect them before removing
        any: a removal shifts the pages after it. The time limit is that of each page.
        """
        last: float = float("inf")
        page = 1
        while True:
            found = self.list(
                filter_type=filter_type, query=query, page=page, per_page=per_page, timeout=timeout
            )
            for one in found.filters:
                # A filter added in the meantime shifts others to the next page, where they are again.
                if one.id < last:
                    last = one.id
                    yield one
            if not found.filters or page >= found.pagination.total_pages:
                return
            page += 1


class Lists(_calls.ListsCalls):
    """Sets of addresses that are verified as one job."""

    def wait(
        self,
        list: str | HasId,
        *,
        on_progress: Callable[[models.List], object] | None = None,
        interval: float = _INTERVAL,
        timeout: float | None = None,
    ) -> models.List:
        """
        Returns when the list is neither running nor paused. Looks every ``interval`` seconds, and
        calls ``on_progress`` with what it sees. The time limit is that of one look.
        """
        while True:
            now = self.get(list, timeout=timeout)
            if on_progress is not None:
                on_progress(now)
            if now.status not in _UNDER_WAY:
                return now
            time.sleep(interval)

    def rows(
        self,
        list: str | HasId,
        *,
        status: Any = None,
        deliverability: str | None = None,
        reason: Any = None,
        query: str | None = None,
        timeout: float | None = None,
    ) -> Iterator[models.ListRow]:
        """Every row, or those that match, in the order of the file, fetched page by page."""
        after: int | None = 0
        while after is not None:
            page = self._rows(
                list,
                status=status,
                deliverability=deliverability,
                reason=reason,
                query=query,
                after=after,
                limit=_ROWS,
                timeout=timeout,
            )
            yield from page.rows
            after = _next(page, after)


class Client(_calls.RootCalls):
    """
    A client for one service and one key, for any number of threads. Close it, or use it with
    ``with``: it keeps connections open.

    Args:
        url: Where the service is, such as ``https://verify.example.net``. A path is kept, and
            ``/v1`` at its end does not count.
        key: ``mv_live_…``, or ``mv_test_…`` for test mode.
        timeout: Seconds for one call, retries included. A check may take 30 seconds. None: no limit.
        retries: How often a call is repeated after 429 or 503, each time after the delay that the
            service asks for. Such a call was not charged. Where the delay would exceed
            ``timeout``, the error is raised at once.
        http_client: A client of httpx with proxies, certificates, HTTP/2 or other settings of
            yours, which you close yourself.

    Raises ValueError where ``url`` or ``key`` cannot be used. Calls raise MailvetError.
    """

    def __init__(
        self,
        url: str | None,
        key: str | None,
        *,
        timeout: float | None = TIMEOUT,
        retries: int = 0,
        http_client: httpx.Client | None = None,
    ) -> None:
        wire = Wire(url, key, timeout, retries)
        http = httpx.Client() if http_client is None else http_client
        self._owned = http if http_client is None else None
        super().__init__(Transport(wire, http))
        self.verifications = _calls.VerificationsCalls(self._transport)
        self.seen = Seen(self._transport)
        self.outcomes = _calls.OutcomesCalls(self._transport)
        self.filters = Filters(self._transport)
        self.lists = Lists(self._transport)
        self.policies = _calls.PoliciesCalls(self._transport)
        self.privacy = _calls.PrivacyCalls(self._transport)
        self.webhooks = _calls.WebhooksCalls(self._transport)

    def close(self) -> None:
        """Closes the connections, but for those of a client of yours."""
        if self._owned is not None:
            self._owned.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class AsyncSeen(_async_calls.AsyncSeenCalls):
    """Mailboxes that ``verify`` was told to remember in a ``scope``."""

    async def forget(
        self, scope: str, email: str, *, timeout: float | None = None
    ) -> models.Forgotten:
        """Forgets one mailbox in a scope, in any spelling, such as that of a deleted user."""
        return await self._forget(scope, email=_address_to_forget(email), timeout=timeout)

    async def forget_scope(self, scope: str, *, timeout: float | None = None) -> models.Forgotten:
        """Forgets every mailbox of a scope."""
        return await self._forget(scope, timeout=timeout)


class AsyncFilters(_async_calls.AsyncFiltersCalls):
    """Addresses, domains and networks that are blocked or allowed."""

    async def all(
        self,
        *,
        filter_type: Any = None,
        query: str | None = None,
        per_page: int = _FILTERS,
        timeout: float | None = None,
    ) -> AsyncIterator[models.Filter]:
        """
        Every matching filter once, newest first, fetched page by page. Collect them before removing
        any: a removal shifts the pages after it. The time limit is that of each page.
        """
        last: float = float("inf")
        page = 1
        while True:
            found = await self.list(
                filter_type=filter_type, query=query, page=page, per_page=per_page, timeout=timeout
            )
            for one in found.filters:
                # A filter added in the meantime shifts others to the next page, where they are again.
                if one.id < last:
                    last = one.id
                    yield one
            if not found.filters or page >= found.pagination.total_pages:
                return
            page += 1


class AsyncLists(_async_calls.AsyncListsCalls):
    """Sets of addresses that are verified as one job."""

    async def wait(
        self,
        list: str | HasId,
        *,
        on_progress: Callable[[models.List], object] | None = None,
        interval: float = _INTERVAL,
        timeout: float | None = None,
    ) -> models.List:
        """
        Returns when the list is neither running nor paused. Looks every ``interval`` seconds, and
        calls ``on_progress`` with what it sees. The time limit is that of one look.
        """
        while True:
            now = await self.get(list, timeout=timeout)
            if on_progress is not None:
                on_progress(now)
            if now.status not in _UNDER_WAY:
                return now
            await anyio.sleep(interval)

    async def rows(
        self,
        list: str | HasId,
        *,
        status: Any = None,
        deliverability: str | None = None,
        reason: Any = None,
        query: str | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[models.ListRow]:
        """Every row, or those that match, in the order of the file, fetched page by page."""
        after: int | None = 0
        while after is not None:
            page = await self._rows(
                list,
                status=status,
                deliverability=deliverability,
                reason=reason,
                query=query,
                after=after,
                limit=_ROWS,
                timeout=timeout,
            )
            for row in page.rows:
                yield row
            after = _next(page, after)


class AsyncClient(_async_calls.AsyncRootCalls):
    """
    The same as ``Client``, with methods that are awaited, on asyncio and trio. Close it with
    ``aclose``, or use it with ``async with``.
    """

    def __init__(
        self,
        url: str | None,
        key: str | None,
        *,
        timeout: float | None = TIMEOUT,
        retries: int = 0,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        wire = Wire(url, key, timeout, retries)
        http = httpx.AsyncClient() if http_client is None else http_client
        self._owned = http if http_client is None else None
        super().__init__(AsyncTransport(wire, http))
        self.verifications = _async_calls.AsyncVerificationsCalls(self._transport)
        self.seen = AsyncSeen(self._transport)
        self.outcomes = _async_calls.AsyncOutcomesCalls(self._transport)
        self.filters = AsyncFilters(self._transport)
        self.lists = AsyncLists(self._transport)
        self.policies = _async_calls.AsyncPoliciesCalls(self._transport)
        self.privacy = _async_calls.AsyncPrivacyCalls(self._transport)
        self.webhooks = _async_calls.AsyncWebhooksCalls(self._transport)

    async def aclose(self) -> None:
        """Closes the connections, but for those of a client of yours."""
        if self._owned is not None:
            await self._owned.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()
