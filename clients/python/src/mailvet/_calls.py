# Generated from the OpenAPI document by `npm run gen`; edit the contract or scripts/gen/python.ts.
"""The calls of the API, as methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from . import models
from ._call import NOT_GIVEN, Call, HasId, NotGiven, flag, given, message_upload, path_of
from ._source import Source
from ._transport import Download, Transport

__all__ = ["RootCalls", "SeenCalls", "VerificationsCalls", "ListsCalls", "FiltersCalls", "PoliciesCalls", "OutcomesCalls", "PrivacyCalls", "WebhooksCalls"]


class RootCalls:
    """The calls without a group."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def verify(
        self,
        email: str,
        *,
        validation_type: Literal["mx", "smtp"] | None = None,
        client_ip: str | None = None,
        timeout_ms: int | None = None,
        scope: str | None = None,
        policy: str | None = None,
        language: str | None = None,
        evidence: bool | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Verification:
        """
        Verify one address. A malformed or dead address is a verdict (200), not an error.

        Args:
            email: The address to check; white space around it does not count. A malformed
                address is not a bad request: its verdict is ``bad``.
            validation_type: ``mx``: syntax, domain, mail-server records, disposable list.
                ``smtp``: also asks the mail server whether the mailbox exists. By default as the
                policy says, or ``mx``.
            client_ip: The end user's IP, which ``ip_address`` filters match; the caller's own
                by default.
            timeout_ms: Time budget of the whole check, in milliseconds. What is not known by
                then is reported as unknown. By default as the policy says, or 10000.
            scope: Your name for a place where a mailbox may count once, such as ``signup``: the
                mailbox is remembered there, and ``seen`` of the reply says whether it was before.
            policy: Name of the policy that decides: one of the account, or ``signup`` or
                ``strict``, which every account has.
            language: Of the decision's message: a language tag such as ``de-CH``, or the value
                of the user's Accept-Language header.
            evidence: ``1`` adds the evidence: mail hosts and the SMTP transcript.
        """
        return self._transport.send(
            Call(
                "POST",
                "/v1/verify",
                query=given({
                    "evidence": flag(evidence),
                }),
                body=given({
                    "email": email,
                    "validation_type": validation_type,
                    "client_ip": client_ip,
                    "timeout_ms": timeout_ms,
                    "scope": scope,
                    "policy": policy,
                    "language": language,
                }),
                idempotency_key=idempotency_key,
                reply_field="deliverability",
                timeout=timeout,
            ),
            models.Verification.from_dict,
        )

    def usage(
        self,
        *,
        group_by: Literal["day", "key", "reason", "validation_type"] | None = None,
        from_: str | None = None,
        to: str | None = None,
        timeout: float | None = None,
    ) -> models.Usage:
        """
        Plan, credit balance, rate limits.

        Args:
            group_by: Adds ``series``, one row per group.
            from_: Start of the series, RFC 3339; by default the period’s.
            to: End of the series (exclusive), RFC 3339.
        """
        return self._transport.send(
            Call(
                "GET",
                "/v1/usage",
                query=given({
                    "group_by": group_by,
                    "from": from_,
                    "to": to,
                }),
                timeout=timeout,
            ),
            models.Usage.from_dict,
        )

    def calibration(
        self,
        *,
        timeout: float | None = None,
    ) -> models.Calibration:
        """
        How often verdicts were right. From sums that are kept, however many outcomes there are.
        """
        return self._transport.send(
            Call(
                "GET",
                "/v1/calibration",
                timeout=timeout,
            ),
            models.Calibration.from_dict,
        )


class SeenCalls:
    """The calls of ``seen``."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def _forget(
        self,
        scope: str,
        *,
        email: str | None = None,
        timeout: float | None = None,
    ) -> models.Forgotten:
        """
        Forget mailboxes that were seen. One mailbox of a scope, or all of it. What is forgotten
        counts as new when it is seen again.

        Args:
            scope: Whose mailboxes are forgotten.
            email: An address of the mailbox, in any spelling; without one, all mailboxes of the
                scope are forgotten.
        """
        return self._transport.send(
            Call(
                "DELETE",
                "/v1/seen",
                query=given({
                    "scope": scope,
                    "email": email,
                }),
                timeout=timeout,
            ),
            models.Forgotten.from_dict,
        )


class VerificationsCalls:
    """The calls of ``verifications``."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        email: str | None = None,
        query: str | None = None,
        level: str | None = None,
        reason: str | None = None,
        deliverability: str | None = None,
        decision: str | None = None,
        since: str | None = None,
        until: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> models.Verifications:
        """
        Search verifications, newest first.

        Args:
            email: An address or its beginning, without regard to case.
            query: An ID, an address or its beginning, or any part of one, such as a domain.
                Without regard to case.
            level: The level that was asked for; what was charged may be mx where it was smtp.
                ``mx``, ``smtp``; several are separated by commas, and any of them matches.
            reason: A reason of the page of verdicts; ``none``: without a reason. ``none``,
                ``blocked_by_filter``, ``bounced_before``, ``invalid_format``,
                ``disposable_domain``, ``domain_not_found``, ``no_mx_records``, ``null_mx``,
                ``mx_unusable``, ``dns_failure``, ``catch_all``, ``mailbox_not_found``,
                ``mailbox_full``, ``mailbox_disabled``, ``relay_denied``, ``greylisted``,
                ``smtp_temporary_failure``, ``smtp_timeout``, ``smtp_unreachable``,
                ``smtp_blocked``, ``smtp_unverifiable``; several are separated by commas, and any of
                them matches.
            deliverability: ``not_checked``: unknown because the mailbox was not asked about
                (level mx). ``unknown``: the others. ``deliverable``, ``not_checked``, ``unknown``,
                ``risky``, ``undeliverable``; several are separated by commas, and any of them
                matches.
            decision: What the policy of the request said. ``accept``, ``review``, ``reject``;
                several are separated by commas, and any of them matches.
            cursor: ``next`` of the page before.
        """
        return self._transport.send(
            Call(
                "GET",
                "/v1/verifications",
                query=given({
                    "email": email,
                    "query": query,
                    "level": level,
                    "reason": reason,
                    "deliverability": deliverability,
                    "decision": decision,
                    "since": since,
                    "until": until,
                    "cursor": cursor,
                    "limit": limit,
                }),
                timeout=timeout,
            ),
            models.Verifications.from_dict,
        )

    def get(
        self,
        id: str | HasId,
        *,
        timeout: float | None = None,
    ) -> models.Verification:
        """Get a verification."""
        return self._transport.send(
            Call(
                "GET",
                f"/v1/verifications/{path_of(id)}",
                timeout=timeout,
            ),
            models.Verification.from_dict,
        )


class ListsCalls:
    """The calls of ``lists``."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(
        self,
        source: Source,
        *,
        name: str | None = None,
        validation_type: Literal["mx", "smtp"] | None = None,
        policy: str | None = None,
        dedupe: Literal["address", "mailbox"] | None = None,
        columns: str | None = None,
        column: str | None = None,
        header_row: int | None = None,
        header: bool | Literal["auto"] | None = None,
        delimiter: str | None = None,
        encoding: str | None = None,
        sheet: str | None = None,
        entry: str | None = None,
        start: bool | None = None,
        retry_minutes: int | None = None,
        patience_minutes: int | None = None,
        type: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.List:
        """
        Upload addresses and verify them as one job. The file as the body, whatever its type, or as
        the part ``file`` of a form, or ``{"emails": […]}``. The other fields go in the query, the
        form or the object. With an ``Idempotency-Key``, the same upload again returns the list of
        the first one, as it is now.

        Args:
            name: By default the name of the file, else the date.
            validation_type: By default as the policy says, or ``mx``.
            policy: Name of the policy that decides: one of the account, or ``signup`` or
                ``strict``, which every account has.
            dedupe: Which rows count as duplicates, and are verified and charged once:
                ``address`` (the default), those of the same address; ``mailbox``, also those of one
                mailbox in other spellings, where its provider documents them, such as
                ``J.Doe+x@gmail.com`` and ``jdoe@googlemail.com``.
            columns: Columns with the addresses, detected by default: names or numbers from 1,
                separated by commas or as a JSON array; ``all``: every column that has addresses.
            column: The same for one column, whatever its name.
            header_row: Row of the file with the names of the columns, from 1, detected by
                default; 0: none.
            header: ``true`` is ``header_row`` 1, ``false`` 0, ``auto`` the default.
            delimiter: Between the cells of a row, detected by default: "comma", "semicolon",
                "tab" or "pipe", or the character itself.
            encoding: Of text, detected by default; a name of the Encoding Standard.
            sheet: Of a workbook, by name or number; by default the first with addresses, else
                the first.
            entry: Of an archive with several files, by name.
            start: ``false`` leaves the list ``ready``, so that its price can be seen first.
            retry_minutes: How long addresses whose servers defer the answer are tried again, by
                default 60.
            patience_minutes: The earlier name of ``retry_minutes``.
        """
        return self._transport.upload(
            Call(
                "POST",
                "/v1/lists",
                query=given({
                    "name": name,
                    "validation_type": validation_type,
                    "policy": policy,
                    "dedupe": dedupe,
                    "columns": columns,
                    "column": column,
                    "header_row": header_row,
                    "header": header,
                    "delimiter": delimiter,
                    "encoding": encoding,
                    "sheet": sheet,
                    "entry": entry,
                    "start": start,
                    "retry_minutes": retry_minutes,
                    "patience_minutes": patience_minutes,
                }),
                idempotency_key=idempotency_key,
                timeout=timeout,
            ),
            source,
            type,
            models.List.from_dict,
        )

    def list(
        self,
        *,
        status: Literal["ready", "running", "paused", "completed", "cancelled", "failed"] | None = None,
        query: str | None = None,
        page: int | None = None,
        per_page: int | None = None,
        timeout: float | None = None,
    ) -> models.Lists:
        """
        Lists, newest first.

        Args:
            query: Searched literally in the name.
        """
        return self._transport.send(
            Call(
                "GET",
                "/v1/lists",
                query=given({
                    "status": status,
                    "query": query,
                    "page": page,
                    "per_page": per_page,
                }),
                timeout=timeout,
            ),
            models.Lists.from_dict,
        )

    def get(
        self,
        id: str | HasId,
        *,
        timeout: float | None = None,
    ) -> models.List:
        """A list with its progress."""
        return self._transport.send(
            Call(
                "GET",
                f"/v1/lists/{path_of(id)}",
                timeout=timeout,
            ),
            models.List.from_dict,
        )

    def update(
        self,
        id: str | HasId,
        *,
        dedupe: Literal["address", "mailbox"] | None = None,
        read: models.ListPatchRead | None = None,
        timeout: float | None = None,
    ) -> models.List:
        """
        Read the file of a list that is not started in another way.

        Args:
            dedupe: Which rows count as duplicates, and are verified and charged once:
                ``address`` (the default), those of the same address; ``mailbox``, also those of one
                mailbox in other spellings, where its provider documents them, such as
                ``J.Doe+x@gmail.com`` and ``jdoe@googlemail.com``.
            read: As in the upload; what is null or left out in it is detected.
        """
        return self._transport.send(
            Call(
                "PATCH",
                f"/v1/lists/{path_of(id)}",
                body=given({
                    "dedupe": dedupe,
                    "read": read,
                }),
                timeout=timeout,
            ),
            models.List.from_dict,
        )

    def remove(
        self,
        id: str | HasId,
        *,
        timeout: float | None = None,
    ) -> models.ListRemoved:
        """Erase a list with its rows and results."""
        return self._transport.send(
            Call(
                "DELETE",
                f"/v1/lists/{path_of(id)}",
                timeout=timeout,
            ),
            models.ListRemoved.from_dict,
        )

    def start(
        self,
        id: str | HasId,
        *,
        timeout: float | None = None,
    ) -> models.List:
        """Hold the price of a list and begin to verify it."""
        return self._transport.send(
            Call(
                "POST",
                f"/v1/lists/{path_of(id)}/start",
                timeout=timeout,
            ),
            models.List.from_dict,
        )

    def pause(
        self,
        id: str | HasId,
        *,
        timeout: float | None = None,
    ) -> models.List:
        """Pause a list."""
        return self._transport.send(
            Call(
                "POST",
                f"/v1/lists/{path_of(id)}/pause",
                timeout=timeout,
            ),
            models.List.from_dict,
        )

    def resume(
        self,
        id: str | HasId,
        *,
        timeout: float | None = None,
    ) -> models.List:
        """Resume a paused list."""
        return self._transport.send(
            Call(
                "POST",
                f"/v1/lists/{path_of(id)}/resume",
                timeout=timeout,
            ),
            models.List.from_dict,
        )

    def cancel(
        self,
        id: str | HasId,
        *,
        timeout: float | None = None,
    ) -> models.List:
        """Cancel a list and release what is held for it."""
        return self._transport.send(
            Call(
                "POST",
                f"/v1/lists/{path_of(id)}/cancel",
                timeout=timeout,
            ),
            models.List.from_dict,
        )

    def _rows(
        self,
        id: str | HasId,
        *,
        status: Literal["good", "bad"] | None = None,
        deliverability: str | None = None,
        reason: Literal["none", "blocked_by_filter", "bounced_before", "invalid_format", "disposable_domain", "domain_not_found", "no_mx_records", "null_mx", "mx_unusable", "dns_failure", "catch_all", "mailbox_not_found", "mailbox_full", "mailbox_disabled", "relay_denied", "greylisted", "smtp_temporary_failure", "smtp_timeout", "smtp_unreachable", "smtp_blocked", "smtp_unverifiable"] | None = None,
        query: str | None = None,
        after: int | None = None,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> models.ListRows:
        """
        Rows of a list with their results.

        Args:
            deliverability: "deliverable", "undeliverable", "risky" or "unknown"; several are
                separated by commas, and ``!undeliverable`` is all but that one.
            reason: ``none``: without a reason.
            query: Searched literally in the address.
            after: ``next`` of the page before.
        """
        return self._transport.send(
            Call(
                "GET",
                f"/v1/lists/{path_of(id)}/rows",
                query=given({
                    "status": status,
                    "deliverability": deliverability,
                    "reason": reason,
                    "query": query,
                    "after": after,
                    "limit": limit,
                }),
                timeout=timeout,
            ),
            models.ListRows.from_dict,
        )

    def results(
        self,
        id: str | HasId,
        *,
        format: Literal["csv", "xlsx", "jsonl"] | None = None,
        delimiter: Literal["comma", "semicolon", "tab", "pipe", ",", ";", "\t", "|"] | None = None,
        encoding: str | None = None,
        bom: bool | None = None,
        status: Literal["good", "bad"] | None = None,
        deliverability: str | None = None,
        reason: Literal["none", "blocked_by_filter", "bounced_before", "invalid_format", "disposable_domain", "domain_not_found", "no_mx_records", "null_mx", "mx_unusable", "dns_failure", "catch_all", "mailbox_not_found", "mailbox_full", "mailbox_disabled", "relay_denied", "greylisted", "smtp_temporary_failure", "smtp_timeout", "smtp_unreachable", "smtp_blocked", "smtp_unverifiable"] | None = None,
        query: str | None = None,
        timeout: float | None = None,
    ) -> Download:
        """
        Download the results of a list, also while it runs.

        Args:
            delimiter: Of CSV, by default that of the file: a name, or the character itself.
            encoding: Of CSV, by default that of the file; what it has no character for is
                written as a question mark.
            bom: Whether CSV begins with a byte order mark, by default as the file did.
            deliverability: "deliverable", "undeliverable", "risky" or "unknown"; several are
                separated by commas, and ``!undeliverable`` is all but that one.
            reason: ``none``: without a reason.
            query: Searched literally in the address.
        """
        return self._transport.download(
            Call(
                "GET",
                f"/v1/lists/{path_of(id)}/results",
                query=given({
                    "format": format,
                    "delimiter": delimiter,
                    "encoding": encoding,
                    "bom": bom,
                    "status": status,
                    "deliverability": deliverability,
                    "reason": reason,
                    "query": query,
                }),
                timeout=timeout,
            ),
        )


class FiltersCalls:
    """The calls of ``filters``."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def add(
        self,
        value: str,
        *,
        filter_type: Literal["email", "domain", "ip_address", "mx_host"] | None = None,
        reason: str | None | NotGiven = NOT_GIVEN,
        action: Literal["block", "allow"] | None = None,
        match: Literal["exact", "mailbox"] | None = None,
        expires_at: str | None | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.FilterAdded:
        """
        Add a filter.

        Args:
            filter_type: Optional when the value makes it clear; a mail host needs it.
            value: An address, a domain (covers its sub-domains), an IP or a CIDR; a mail host,
                or ``*.suffix``. Put in canonical form.
            action: ``block``: what matches is bad. ``allow``: the lists, and filters that are
                less specific, do not count. Default ``block``.
            match: ``mailbox``, of an address: every spelling of its mailbox. Default ``exact``.
            expires_at: RFC 3339, in the future, at most 10 years ahead; null: never.
        """
        return self._transport.send(
            Call(
                "POST",
                "/v1/filters",
                body=given({
                    "filter_type": filter_type,
                    "value": value,
                    "action": action,
                    "match": match,
                }, {
                    "reason": reason,
                    "expires_at": expires_at,
                }),
                idempotency_key=idempotency_key,
                timeout=timeout,
            ),
            models.FilterAdded.from_dict,
        )

    def list(
        self,
        *,
        filter_type: Literal["email", "domain", "ip_address", "mx_host"] | None = None,
        query: str | None = None,
        page: int | None = None,
        per_page: int | None = None,
        timeout: float | None = None,
    ) -> models.Filters:
        """
        List filters, newest first.

        Args:
            query: Searched literally in value and reason.
        """
        return self._transport.send(
            Call(
                "GET",
                "/v1/filters",
                query=given({
                    "filter_type": filter_type,
                    "query": query,
                    "page": page,
                    "per_page": per_page,
                }),
                timeout=timeout,
            ),
            models.Filters.from_dict,
        )

    def import_(
        self,
        source: Source,
        *,
        dry_run: bool | None = None,
        columns: str | None = None,
        column: str | None = None,
        header_row: int | None = None,
        header: bool | Literal["auto"] | None = None,
        delimiter: str | None = None,
        encoding: str | None = None,
        sheet: str | None = None,
        entry: str | None = None,
        type: str | None = None,
        timeout: float | None = None,
    ) -> models.FilterImport:
        """
        Add the filters of a file. The file as the body, whatever its type, or as the part ``file``
        of a form. The other fields go in the query or the form. A row that cannot be used is named
        in ``errors``, and changes nothing; the others are added. The same file again adds nothing.

        Args:
            dry_run: ``true``: nothing is changed, and the reply says what would be.
            columns: Columns with the values, detected by default: names or numbers from 1,
                separated by commas or as a JSON array; ``all``: every column that has values.
            column: The same for one column, whatever its name.
            header_row: Row of the file with the names of the columns, from 1, detected by
                default; 0: none.
            header: ``true`` is ``header_row`` 1, ``false`` 0, ``auto`` the default.
            delimiter: Between the cells of a row, detected by default: "comma", "semicolon",
                "tab" or "pipe", or the character itself.
            encoding: Of text, detected by default; a name of the Encoding Standard.
            sheet: Of a workbook, by name or number; by default the first with addresses, else
                the first.
            entry: Of an archive with several files, by name.
        """
        return self._transport.upload(
            Call(
                "POST",
                "/v1/filters/import",
                query=given({
                    "dry_run": dry_run,
                    "columns": columns,
                    "column": column,
                    "header_row": header_row,
                    "header": header,
                    "delimiter": delimiter,
                    "encoding": encoding,
                    "sheet": sheet,
                    "entry": entry,
                }),
                timeout=timeout,
            ),
            source,
            type,
            models.FilterImport.from_dict,
        )

    def export(
        self,
        *,
        timeout: float | None = None,
    ) -> Download:
        """All filters as CSV."""
        return self._transport.download(
            Call(
                "GET",
                "/v1/filters/export",
                timeout=timeout,
            ),
        )

    def get(
        self,
        id: int,
        *,
        timeout: float | None = None,
    ) -> models.FilterDetails:
        """Get a filter."""
        return self._transport.send(
            Call(
                "GET",
                f"/v1/filters/{id}",
                timeout=timeout,
            ),
            models.FilterDetails.from_dict,
        )

    def change(
        self,
        id: int,
        *,
        reason: str | None | NotGiven = NOT_GIVEN,
        action: Literal["block", "allow"] | None = None,
        match: Literal["exact", "mailbox"] | None = None,
        expires_at: str | None | NotGiven = NOT_GIVEN,
        timeout: float | None = None,
    ) -> models.FilterDetails:
        """
        Change a filter.

        Args:
            action: ``block``: what matches is bad. ``allow``: the lists, and filters that are
                less specific, do not count. Default ``block``.
            match: ``mailbox``, of an address: every spelling of its mailbox. Default ``exact``.
            expires_at: RFC 3339, in the future, at most 10 years ahead; null: never.
        """
        return self._transport.send(
            Call(
                "PATCH",
                f"/v1/filters/{id}",
                body=given({
                    "action": action,
                    "match": match,
                }, {
                    "reason": reason,
                    "expires_at": expires_at,
                }),
                timeout=timeout,
            ),
            models.FilterDetails.from_dict,
        )

    def remove(
        self,
        id: int,
        *,
        timeout: float | None = None,
    ) -> models.FilterRemoved:
        """Remove a filter."""
        return self._transport.send(
            Call(
                "DELETE",
                f"/v1/filters/{id}",
                timeout=timeout,
            ),
            models.FilterRemoved.from_dict,
        )


class PoliciesCalls:
    """The calls of ``policies``."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        timeout: float | None = None,
    ) -> models.PolicyList:
        """List policies."""
        return self._transport.send(
            Call(
                "GET",
                "/v1/policies",
                timeout=timeout,
            ),
            models.PolicyList.from_dict,
        )

    def get(
        self,
        name: str | HasId,
        *,
        timeout: float | None = None,
    ) -> models.PolicyDetails:
        """Show a policy."""
        return self._transport.send(
            Call(
                "GET",
                f"/v1/policies/{path_of(name)}",
                timeout=timeout,
            ),
            models.PolicyDetails.from_dict,
        )

    def put(
        self,
        name: str | HasId,
        *,
        signals: models.PolicySignalsRequest | None = None,
        validation_type: Literal["mx", "smtp"] | None = None,
        timeout_ms: int | None = None,
        on_outage: Literal["accept", "review", "reject"] | None = None,
        messages: models.PolicyMessagesRequest | None = None,
        timeout: float | None = None,
    ) -> models.PolicyDetails:
        """
        Create or replace a policy. The body is the whole policy. A reply of this API can be sent
        back, also under another name.

        Args:
            validation_type: Level of the check where the request has none. Default: ``mx``.
            timeout_ms: Time limit of the check in milliseconds, where the request has none.
                Default: ``10000``.
            on_outage: What to decide where there is no verdict, because of an outage, an empty
                balance or a limit. Default: ``accept``.
        """
        return self._transport.send(
            Call(
                "PUT",
                f"/v1/policies/{path_of(name)}",
                body=given({
                    "signals": signals,
                    "validation_type": validation_type,
                    "timeout_ms": timeout_ms,
                    "on_outage": on_outage,
                    "messages": messages,
                }),
                timeout=timeout,
            ),
            models.PolicyDetails.from_dict,
        )

    def remove(
        self,
        name: str | HasId,
        *,
        timeout: float | None = None,
    ) -> models.PolicyDeleted:
        """Delete a policy."""
        return self._transport.send(
            Call(
                "DELETE",
                f"/v1/policies/{path_of(name)}",
                timeout=timeout,
            ),
            models.PolicyDeleted.from_dict,
        )


class OutcomesCalls:
    """The calls of ``outcomes``."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def report(
        self,
        outcomes: Sequence[models.Outcome],
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.OutcomesResult:
        """
        Report what became of mail. Costs nothing. A row with an error does not affect the others.
        What was reported before counts once, in whatever order it arrives.
        """
        return self._transport.send(
            Call(
                "POST",
                "/v1/outcomes",
                body=given({
                    "outcomes": outcomes,
                }),
                idempotency_key=idempotency_key,
                timeout=timeout,
            ),
            models.OutcomesResult.from_dict,
        )

    def report_message(
        self,
        message: bytes | str,
        *,
        source: str | None = None,
        via: Literal["message", "command"] | None = None,
        timeout: float | None = None,
    ) -> models.OutcomeMessageResult:
        """
        Report a bounce or a complaint as it arrived. Takes a delivery status notification (RFC
        3464), a feedback report (RFC 5965) or a bounce that is only text, as a mail server sent it.
        Costs nothing, and keeps nothing of the message. Automatic replies, notices of delays and
        reports that a mail is no spam count as nothing.

        Args:
            source: Your name of what sent the mail.
            via: As what the dashboard counts it: ``command`` is ``mailvet outcomes``. Without
                it, ``message``.
        """
        return self._transport.send(
            Call(
                "POST",
                "/v1/outcomes/message",
                query=given({
                    "source": source,
                    "via": via,
                }),
                upload=message_upload(message),
                timeout=timeout,
            ),
            models.OutcomeMessageResult.from_dict,
        )


class PrivacyCalls:
    """The calls of ``privacy``."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def export(
        self,
        email: str,
        *,
        canonical: bool | None = None,
        timeout: float | None = None,
    ) -> models.PrivacyExport:
        """
        Export what is held about an address. The document is sent as it is made. One that breaks
        off is not valid JSON.

        Args:
            email: Without regard to case.
            canonical: All spellings of the mailbox, as ``canonical_email`` compares them, not
                this address alone. Default: ``false``.
        """
        return self._transport.send(
            Call(
                "POST",
                "/v1/privacy/export",
                body=given({
                    "email": email,
                    "canonical": canonical,
                }),
                timeout=timeout,
            ),
            models.PrivacyExport.from_dict,
        )

    def erase(
        self,
        email: str,
        *,
        canonical: bool | None = None,
        filters: bool | None = None,
        timeout: float | None = None,
    ) -> models.PrivacyErased:
        """
        Erase what is held about an address. Counters and charges remain. A large log and large
        lists take a while, as all of them are searched.

        Args:
            email: Without regard to case.
            canonical: All spellings of the mailbox, as ``canonical_email`` compares them, not
                this address alone. Default: ``false``.
            filters: Remove filters of the address as well, so that it is no longer blocked or
                allowed. Default: ``false``.
        """
        return self._transport.send(
            Call(
                "POST",
                "/v1/privacy/erase",
                body=given({
                    "email": email,
                    "canonical": canonical,
                    "filters": filters,
                }),
                timeout=timeout,
            ),
            models.PrivacyErased.from_dict,
        )


class WebhooksCalls:
    """The calls of ``webhooks``."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(
        self,
        url: str,
        events: Sequence[Literal["list.completed", "list.failed", "list.cancelled", "credits.low", "account.created", "credits.granted", "credits.exhausted", "key.created", "key.revoked", "outcomes.contradiction", "rejections.high", "unknowns.high", "budget.low", "webhook.failing", "smtp.unreachable", "ping", "*"]],
        *,
        format: Literal["events", "slack"] | None = None,
        description: str | None | NotGiven = NOT_GIVEN,
        timeout: float | None = None,
    ) -> models.WebhookCreated:
        """
        Create a webhook.

        Args:
            url: https, with a host that has a public address. Redirects are not followed.
            format: Default: ``events``.
        """
        return self._transport.send(
            Call(
                "POST",
                "/v1/webhooks",
                body=given({
                    "url": url,
                    "format": format,
                    "events": events,
                }, {
                    "description": description,
                }),
                timeout=timeout,
            ),
            models.WebhookCreated.from_dict,
        )

    def list(
        self,
        *,
        timeout: float | None = None,
    ) -> models.WebhookList:
        """List webhooks, oldest first."""
        return self._transport.send(
            Call(
                "GET",
                "/v1/webhooks",
                timeout=timeout,
            ),
            models.WebhookList.from_dict,
        )

    def get(
        self,
        id: str | HasId,
        *,
        timeout: float | None = None,
    ) -> models.WebhookDetails:
        """Get a webhook."""
        return self._transport.send(
            Call(
                "GET",
                f"/v1/webhooks/{path_of(id)}",
                timeout=timeout,
            ),
            models.WebhookDetails.from_dict,
        )

    def change(
        self,
        id: str | HasId,
        *,
        url: str | None = None,
        events: Sequence[Literal["list.completed", "list.failed", "list.cancelled", "credits.low", "account.created", "credits.granted", "credits.exhausted", "key.created", "key.revoked", "outcomes.contradiction", "rejections.high", "unknowns.high", "budget.low", "webhook.failing", "smtp.unreachable", "ping", "*"]] | None = None,
        description: str | None | NotGiven = NOT_GIVEN,
        enabled: bool | None = None,
        timeout: float | None = None,
    ) -> models.WebhookDetails:
        """
        Change a webhook.

        Args:
            url: https, with a host that has a public address. Redirects are not followed.
            enabled: A webhook that is disabled gets no events; what was to be sent to it has
                failed.
        """
        return self._transport.send(
            Call(
                "PATCH",
                f"/v1/webhooks/{path_of(id)}",
                body=given({
                    "url": url,
                    "events": events,
                    "enabled": enabled,
                }, {
                    "description": description,
                }),
                timeout=timeout,
            ),
            models.WebhookDetails.from_dict,
        )

    def remove(
        self,
        id: str | HasId,
        *,
        timeout: float | None = None,
    ) -> models.WebhookDeleted:
        """Delete a webhook."""
        return self._transport.send(
            Call(
                "DELETE",
                f"/v1/webhooks/{path_of(id)}",
                timeout=timeout,
            ),
            models.WebhookDeleted.from_dict,
        )

    def rotate_secret(
        self,
        id: str | HasId,
        *,
        timeout: float | None = None,
    ) -> models.WebhookCreated:
        """Replace the secret of a webhook."""
        return self._transport.send(
            Call(
                "POST",
                f"/v1/webhooks/{path_of(id)}/rotate-secret",
                timeout=timeout,
            ),
            models.WebhookCreated.from_dict,
        )

    def test(
        self,
        id: str | HasId,
        *,
        timeout: float | None = None,
    ) -> models.DeliveryDetails:
        """Send a ping now."""
        return self._transport.send(
            Call(
                "POST",
                f"/v1/webhooks/{path_of(id)}/test",
                timeout=timeout,
            ),
            models.DeliveryDetails.from_dict,
        )

    def deliveries(
        self,
        id: str | HasId,
        *,
        page: int | None = None,
        per_page: int | None = None,
        timeout: float | None = None,
    ) -> models.Deliveries:
        """List deliveries of a webhook, newest first."""
        return self._transport.send(
            Call(
                "GET",
                f"/v1/webhooks/{path_of(id)}/deliveries",
                query=given({
                    "page": page,
                    "per_page": per_page,
                }),
                timeout=timeout,
            ),
            models.Deliveries.from_dict,
        )

    def replay(
        self,
        id: str | HasId,
        *,
        timeout: float | None = None,
    ) -> models.DeliveryDetails:
        """Send an event again."""
        return self._transport.send(
            Call(
                "POST",
                f"/v1/deliveries/{path_of(id)}/replay",
                timeout=timeout,
            ),
            models.DeliveryDetails.from_dict,
        )
