# Generated from the OpenAPI document by `npm run gen`; edit the contract or scripts/gen/python.ts.
"""
What the service answers and is sent.

The service of a later version may send fields and values that these types do not name: fields are
in ``extra``, and texts with a ``Literal`` type may have other values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypedDict

from ._model import Decoders, Model, items

Status = Literal[
    "good",
    "bad",
]

Deliverability = Literal[
    "deliverable",
    "undeliverable",
    "risky",
    "unknown",
]
"""What to expect of a message."""

Reason = Literal[
    "blocked_by_filter",
    "bounced_before",
    "invalid_format",
    "disposable_domain",
    "domain_not_found",
    "no_mx_records",
    "null_mx",
    "mx_unusable",
    "dns_failure",
    "catch_all",
    "mailbox_not_found",
    "mailbox_full",
    "mailbox_disabled",
    "relay_denied",
    "greylisted",
    "smtp_temporary_failure",
    "smtp_timeout",
    "smtp_unreachable",
    "smtp_blocked",
    "smtp_unverifiable",
]
"""
Why the address is bad, or what could not be determined; see the page of verdicts. Later versions
may add reasons.
"""

CheckResult = Literal[
    "pass",
    "fail",
    "unknown",
    "skipped",
]

PolicyAction = Literal[
    "accept",
    "review",
    "reject",
]
"""What the policy says to do."""


@dataclass(frozen=True)
class Seen(Model):
    """
    What is remembered of the mailbox in the `scope` of the request; null without one, and for a
    malformed address.
    """

    before: bool
    """Whether the mailbox was seen in this scope before, in any spelling."""
    count: int
    """How often it was seen, this time included."""
    first_at: str
    """When it was seen first."""
    same_spelling: bool
    """Whether its address is spelled as it was then; false the first time."""


@dataclass(frozen=True)
class MailHistory(Model):
    """
    What became of mail of the account to the mailbox, as reported in outcomes; null: nothing was.
    """

    delivered_at: str | None
    """When a message last arrived."""
    bounced_at: str | None
    """When the mail server last refused the recipient."""
    complained_at: str | None
    """When the recipient last reported one as spam."""


@dataclass(frozen=True)
class Confidence(Model):
    """
    How often mail arrives at addresses with this deliverability, reason, level and mail provider;
    null with fewer than 50 outcomes of the account.
    """

    p: float
    """The share of mail that did not bounce for a reason of the recipient."""
    low: float
    """Of its 95 % interval."""
    high: float
    """Of its 95 % interval."""
    n: int
    """Verdicts that it is measured by."""
    basis: Literal["account"]
    """Whose outcomes count."""


@dataclass(frozen=True)
class ChecksSyntax(Model):
    """The object `ChecksSyntax` of the API."""

    result: CheckResult
    error: str | None = None
    """What is wrong with the address; see the page of syntax errors."""
    index: int | None = None
    """Where, in UTF-16 code units."""


@dataclass(frozen=True)
class ChecksFilter(Model):
    """The object `ChecksFilter` of the API."""

    result: CheckResult
    filter_id: int | None = None
    """The filter that matched."""
    action: Literal["block", "allow"] | None = None
    """What it does."""
    filter_type: str | None = None
    value: str | None = None
    id: int | None = None
    """As `filter_id`, where the filter blocks."""


@dataclass(frozen=True)
class ChecksDisposable(Model):
    """The object `ChecksDisposable` of the API."""

    result: CheckResult
    list_version: str
    matched: str | None = None
    """The list entry or mail host that matched."""


@dataclass(frozen=True)
class ChecksDomain(Model):
    """The object `ChecksDomain` of the API."""

    result: CheckResult


@dataclass(frozen=True)
class ChecksMxRecords(Model):
    """The object `ChecksMxRecords` of the API."""

    host: str
    priority: int


@dataclass(frozen=True)
class ChecksMx(Model):
    """The object `ChecksMx` of the API."""

    result: CheckResult
    records: list[ChecksMxRecords] | None = None
    provider: str | None = None
    provider_kind: Literal["mailbox", "gateway", "hosting", "forwarder", "relay"] | None = None
    """What the mail hosts of the provider do with mail."""
    failure: str | None = None
    """How the DNS question failed."""

    _decoders: ClassVar[Decoders] = {
        "records": items(ChecksMxRecords.from_dict),
    }


@dataclass(frozen=True)
class ChecksSmtp(Model):
    """The object `ChecksSmtp` of the API."""

    result: CheckResult
    host: str | None = None
    stage: str | None = None
    code: int | None = None
    enhanced_code: str | None = None
    message: str | None = None
    """
    What the mail server said with the code that decided, without mail addresses and the words of
    the local part; null: no reply decided.
    """
    tls: bool | None = None
    rule: str | None = None
    """The classification rule that decided."""
    egress: str | None = None
    """Name of the egress from which the mail server was asked, or was to be asked."""


@dataclass(frozen=True)
class ChecksCatchAllOutcomes(Model):
    """Of a catch-all: what became of the account's mail to its mailboxes."""

    delivered: int
    bounced: int


@dataclass(frozen=True)
class ChecksCatchAll(Model):
    """The object `ChecksCatchAll` of the API."""

    result: CheckResult
    outcomes: ChecksCatchAllOutcomes | None = None
    """Of a catch-all: what became of the account's mail to its mailboxes."""
    checked_at: str | None = None
    """
    When the server answered about a random mailbox. The answer is remembered for hours, so it may
    be older than the check; null: it did not answer.
    """

    _decoders: ClassVar[Decoders] = {
        "outcomes": ChecksCatchAllOutcomes.from_dict,
    }


@dataclass(frozen=True)
class Checks(Model):
    """The object `Checks` of the API."""

    syntax: ChecksSyntax
    filter: ChecksFilter
    disposable: ChecksDisposable
    domain: ChecksDomain
    mx: ChecksMx
    smtp: ChecksSmtp
    catch_all: ChecksCatchAll

    _decoders: ClassVar[Decoders] = {
        "syntax": ChecksSyntax.from_dict,
        "filter": ChecksFilter.from_dict,
        "disposable": ChecksDisposable.from_dict,
        "domain": ChecksDomain.from_dict,
        "mx": ChecksMx.from_dict,
        "smtp": ChecksSmtp.from_dict,
        "catch_all": ChecksCatchAll.from_dict,
    }


@dataclass(frozen=True)
class EvidenceMailHosts(Model):
    """The object `EvidenceMailHosts` of the API."""

    host: str
    priority: int
    addresses: list[str]


@dataclass(frozen=True)
class EvidenceUnusableHosts(Model):
    """The object `EvidenceUnusableHosts` of the API."""

    host: str
    why: str


@dataclass(frozen=True)
class EvidenceSmtpAttempts(Model):
    """The object `EvidenceSmtpAttempts` of the API."""

    host: str
    address: str
    stage: str | None
    code: int | None
    rule: str | None
    next: Literal["deferred", "next_host", "next_address", "new_session", "without_pipelining", "tls_1_2", "in_clear"] | None
    """Why another attempt followed; null if none did."""


@dataclass(frozen=True)
class EvidenceSmtpTranscript(Model):
    """The object `EvidenceSmtpTranscript` of the API."""

    at: float
    """Milliseconds since the dialogue began."""
    from_: Literal["client", "server", "note"]
    text: str


@dataclass(frozen=True)
class EvidenceSmtp(Model):
    """The object `EvidenceSmtp` of the API."""

    host: str | None
    address: str | None
    tls: bool
    rule: str | None
    egress: str | None
    """As in `checks.smtp`."""
    decided_by: Literal["operator", "rule", "model"] | None
    """What read the reply that decided; null if none did."""
    probability: float | None
    """That the mailbox cannot be reached, as the model saw that reply, from 0 to 1."""
    attempts: list[EvidenceSmtpAttempts]
    """The mail hosts that were asked, in order; the last one need not be the one that decided."""
    transcript: list[EvidenceSmtpTranscript]

    _decoders: ClassVar[Decoders] = {
        "attempts": items(EvidenceSmtpAttempts.from_dict),
        "transcript": items(EvidenceSmtpTranscript.from_dict),
    }


@dataclass(frozen=True)
class EvidenceCatchAll(Model):
    """The object `EvidenceCatchAll` of the API."""

    result: CheckResult
    checked_at: str | None
    """When the server answered about a random mailbox."""
    cached: bool
    """The answer is remembered from an earlier check."""
    why: str | None
    """Why it is unknown."""


@dataclass(frozen=True)
class Evidence(Model):
    """The object `Evidence` of the API."""

    mail_hosts: list[EvidenceMailHosts]
    unusable_hosts: list[EvidenceUnusableHosts]
    smtp: EvidenceSmtp | None
    catch_all: EvidenceCatchAll | None

    _decoders: ClassVar[Decoders] = {
        "mail_hosts": items(EvidenceMailHosts.from_dict),
        "unusable_hosts": items(EvidenceUnusableHosts.from_dict),
        "smtp": EvidenceSmtp.from_dict,
        "catch_all": EvidenceCatchAll.from_dict,
    }


@dataclass(frozen=True)
class Decision(Model):
    """What the policy of the request says of the verdict; null without a policy."""

    action: PolicyAction
    because: list[Literal["undeliverable", "disposable", "relay", "role", "free", "catch_all", "unknown", "full", "typo", "tag", "seen_before", "outage"]]
    """The signals that the policy answers with this action. Later versions may add some."""
    message: str | None
    """For the person who entered the address; null where it is accepted."""


@dataclass(frozen=True)
class Verification(Model):
    """The object `Verification` of the API."""

    email: str
    """Exactly as sent; in the log, `hash:…` where addresses are not kept."""
    status: Status
    validation_type: Literal["mx", "smtp"]
    """The level that gave the answer, and that was billed."""
    credits_used: int
    is_disposable: bool
    deliverability: Deliverability
    reason: Reason | None
    did_you_mean: str | None
    normalized_email: str | None
    canonical_email: str | None
    """
    For comparing: addresses of one mailbox have the same. Never mail to it, and never show it as
    the user’s address.
    """
    canonical_rule: str | None
    """The provider whose rule applied; `tag`: only a +tag was cut; null: nothing was changed."""
    seen: Seen | None
    history: MailHistory | None
    confidence: Confidence | None
    local_part: str | None
    domain: str | None
    tag: str | None
    is_role: bool | None
    """A function, not a person: info@, sales@."""
    is_free: bool | None
    """A free mail provider."""
    is_relay: bool | None
    """A privacy relay, such as Hide My Email."""
    relay_provider: str | None
    """Who runs the relay."""
    is_catch_all: bool | None
    """The server accepts any mailbox."""
    is_mailbox_full: bool | None
    """The mailbox is full."""
    is_disabled: bool | None
    """The mailbox is disabled."""
    retry_after: int | None
    """Seconds after which asking again makes sense."""
    checks: Checks
    warnings: list[str]
    """What the request has that is unknown, or changes nothing."""
    id: str
    duration_ms: int
    verified_at: str
    decision: Decision | None
    evidence: Evidence | None = None

    _decoders: ClassVar[Decoders] = {
        "seen": Seen.from_dict,
        "history": MailHistory.from_dict,
        "confidence": Confidence.from_dict,
        "checks": Checks.from_dict,
        "evidence": Evidence.from_dict,
        "decision": Decision.from_dict,
    }


@dataclass(frozen=True)
class Forgotten(Model):
    """The object `Forgotten` of the API."""

    forgotten: int
    """How many mailboxes."""
    warnings: list[str]
    """What the request has that is unknown, or changes nothing."""


@dataclass(frozen=True)
class LogEntryKey(Model):
    """The object `LogEntryKey` of the API."""

    id: str
    name: str


@dataclass(frozen=True)
class LogEntryList(Model):
    """The object `LogEntryList` of the API."""

    id: str
    name: str


@dataclass(frozen=True)
class LogEntry(Model):
    """The object `LogEntry` of the API."""

    id: str
    email: str
    status: Status
    deliverability: Deliverability
    reason: Reason | None
    requested: Literal["mx", "smtp"]
    validation_type: Literal["mx", "smtp"]
    credits_used: int
    duration_ms: int
    client_ip: str | None
    key: LogEntryKey | None
    list: LogEntryList | None
    via: Literal["mcp", "reacher", "kickbox", "zerobounce", "neverbounce", "emailable", "supabase", "workos", "kratos", "zitadel", "generic"] | None
    decision: Literal["accept", "review", "reject"] | None
    egress: str | None
    created_at: str

    _decoders: ClassVar[Decoders] = {
        "key": LogEntryKey.from_dict,
        "list": LogEntryList.from_dict,
    }


@dataclass(frozen=True)
class Verifications(Model):
    """The object `Verifications` of the API."""

    verifications: list[LogEntry]
    next: str | None
    """The `cursor` of the next page; null: there is none."""
    searched_to: str | None
    """
    How far back this page looked; null: to the end. A page may have fewer rows than `limit`, or
    none.
    """
    warnings: list[str]
    """What the request has that is unknown, or changes nothing."""

    _decoders: ClassVar[Decoders] = {
        "verifications": items(LogEntry.from_dict),
    }


@dataclass(frozen=True)
class RowsOfList(Model):
    """The object `RowsOfList` of the API."""

    total: int
    """Rows of the file; one may have several addresses."""
    addresses: int
    """Distinct ones, or those of distinct mailboxes: each is verified and charged once."""
    duplicates: int
    """Further addresses that are the same as an earlier one, or of its mailbox."""
    blank: int
    """Rows without an address."""
    unreadable: int
    """Rows that are broken, such as by a quote that is not closed."""


@dataclass(frozen=True)
class ListProgress(Model):
    """The object `ListProgress` of the API."""

    done: int
    """Distinct addresses, as in all that follows."""
    waiting: int
    """Deferred by their server, to be asked about again."""
    good: int
    bad: int
    percent: float
    per_second: float | None
    eta_seconds: int | None


@dataclass(frozen=True)
class ListDeliverability(Model):
    """The object `ListDeliverability` of the API."""

    deliverable: int
    undeliverable: int
    risky: int
    unknown: int


@dataclass(frozen=True)
class ListCredits(Model):
    """The object `ListCredits` of the API."""

    price: int
    """What is held at the start: the most that the list can cost."""
    held: int
    used: int


@dataclass(frozen=True)
class ListReadOtherAddressColumns(Model):
    """The object `ListReadOtherAddressColumns` of the API."""

    column: str
    addresses: int


@dataclass(frozen=True)
class ListReadAddressesPerRow(Model):
    """The object `ListReadAddressesPerRow` of the API."""

    max: int | None
    rows_with_several: int | None


@dataclass(frozen=True)
class ListRead(Model):
    """How the file was read. Null: it has no such thing, or a version before did not keep it."""

    format: Literal["csv", "tsv", "text", "ndjson", "json", "vcard", "ldif", "xlsx", "xlsb", "xls", "ods", "spreadsheetml", "html"] | None
    """As detected."""
    delimiter: str | None
    """Between the cells of a row."""
    encoding: str | None
    sheet: str | None
    """Of a workbook."""
    entry: str | None
    """Of an archive."""
    header_row: int | None
    """Row of the file with the names of the columns; 0: none."""
    column: str
    """The main one with addresses."""
    columns: list[str]
    """Those whose addresses are verified, the main one first."""
    other_address_columns: list[ListReadOtherAddressColumns]
    """Whose addresses are not verified."""
    addresses_per_row: ListReadAddressesPerRow

    _decoders: ClassVar[Decoders] = {
        "other_address_columns": items(ListReadOtherAddressColumns.from_dict),
        "addresses_per_row": ListReadAddressesPerRow.from_dict,
    }


@dataclass(frozen=True)
class ListWarnings(Model):
    """The object `ListWarnings` of the API."""

    code: Literal["no_address", "few_addresses", "other_address_columns", "other_lists", "several_addresses", "encoding_guessed", "invalid_encoding", "uneven_rows", "realigned_rows", "header_repeated", "rows_left_out", "unknown_field"]
    message: str


@dataclass(frozen=True)
class ListError(Model):
    """The object `ListError` of the API."""

    code: str
    error: str


@dataclass(frozen=True)
class List(Model):
    """The object `List` of the API."""

    id: str
    name: str
    status: Literal["ready", "running", "paused", "completed", "cancelled", "failed"]
    validation_type: Literal["mx", "smtp"]
    policy: str | None
    """Name of the policy that decides, as it was at the upload."""
    dedupe: Literal["address", "mailbox"]
    """Which rows count as duplicates, as in the upload."""
    rows: RowsOfList
    progress: ListProgress
    deliverability: ListDeliverability
    by_reason: dict[str, int]
    credits: ListCredits
    read: ListRead
    """How the file was read. Null: it has no such thing, or a version before did not keep it."""
    warnings: list[ListWarnings]
    """What may be wrong with how the file was read; and, as `unknown_field`, with the request."""
    error: ListError | None
    retry_minutes: int
    """How long deferred addresses are tried again."""
    patience_minutes: int
    """The earlier name of `retry_minutes`."""
    created_at: str
    started_at: str | None
    finished_at: str | None
    expires_at: str
    """When the list and its results are deleted."""

    _decoders: ClassVar[Decoders] = {
        "rows": RowsOfList.from_dict,
        "progress": ListProgress.from_dict,
        "deliverability": ListDeliverability.from_dict,
        "credits": ListCredits.from_dict,
        "read": ListRead.from_dict,
        "warnings": items(ListWarnings.from_dict),
        "error": ListError.from_dict,
    }


@dataclass(frozen=True)
class Pagination(Model):
    """The object `Pagination` of the API."""

    current_page: int
    per_page: int
    total_pages: int
    total_count: int


@dataclass(frozen=True)
class Lists(Model):
    """The object `Lists` of the API."""

    lists: list[List]
    pagination: Pagination
    warnings: list[str]
    """What the request has that is unknown, or changes nothing."""

    _decoders: ClassVar[Decoders] = {
        "lists": items(List.from_dict),
        "pagination": Pagination.from_dict,
    }


@dataclass(frozen=True)
class ListRemoved(Model):
    """The object `ListRemoved` of the API."""

    status: str
    message: str
    warnings: list[str]
    """What the request has that is unknown, or changes nothing."""


@dataclass(frozen=True)
class ListRowProblem(Model):
    """The object `ListRowProblem` of the API."""

    code: str
    line: int
    """Of the file, from 1."""
    error: str


@dataclass(frozen=True)
class ListRow(Model):
    """What is not known, or not done, is null."""

    row: int
    """From 1, the header not counted. A row with several addresses appears here once for each."""
    part: int | None
    """Which of the addresses of its row, from 1; null where it has one."""
    parts: int | None
    """How many addresses its row has."""
    column: str | None
    """From which the address was taken, where that is not the main one."""
    email: str | None
    status: Status | None
    deliverability: Deliverability | None
    reason: Reason | None
    did_you_mean: str | None
    validation_type: Literal["mx", "smtp"] | None
    credits_used: int | None
    """0 where `is_duplicate` is true."""
    is_disposable: bool | None
    is_role: bool | None
    is_free: bool | None
    is_relay: bool | None
    is_catch_all: bool | None
    decision: Literal["accept", "review", "reject"] | None
    """Of the policy of the list; null without one, and without a result."""
    relay_provider: str | None
    """Who runs the relay."""
    egress: str | None
    """From where the mail server was asked, as in `checks.smtp`."""
    checks: Checks | None
    canonical_email: str | None
    """For comparing, as in a single check: addresses of one mailbox have the same."""
    is_duplicate: bool | None
    """An earlier row has the address, or its mailbox: this one has its result, free of charge."""
    attempts: int
    """How often the address was asked about."""
    verified_at: str | None
    problem: ListRowProblem | None

    _decoders: ClassVar[Decoders] = {
        "checks": Checks.from_dict,
        "problem": ListRowProblem.from_dict,
    }


@dataclass(frozen=True)
class ListRows(Model):
    """The object `ListRows` of the API."""

    rows: list[ListRow]
    next: int | None
    """
    `after` of the next page; null at the end. A page that searches may have fewer rows than its
    limit of up to 1,000.
    """
    warnings: list[str]
    """What the request has that is unknown, or changes nothing."""

    _decoders: ClassVar[Decoders] = {
        "rows": items(ListRow.from_dict),
    }


@dataclass(frozen=True)
class UsagePeriod(Model):
    """The calendar month, UTC."""

    start: str
    end: str


@dataclass(frozen=True)
class UsageCredits(Model):
    """The object `UsageCredits` of the API."""

    total: int
    """What the account holds: `remaining` and `locked` together."""
    locked: int
    """Held by checks that are still running."""
    used: int
    """Charged in the calendar month, UTC."""
    remaining: int
    """What can still be spent."""
    unlimited: bool
    """Whether the plan gives as many credits as are needed: the numbers are then very large."""
    allowance: int
    """
    What is left of the month’s allowance, out of `total`. It is spent before what was purchased.
    """
    purchased: int
    """The rest of `total`, which does not end with the month."""


@dataclass(frozen=True)
class UsageRateLimit(Model):
    """The object `UsageRateLimit` of the API."""

    limit: int
    remaining: int
    window_seconds: int
    reset_at: str


@dataclass(frozen=True)
class UsageStorageListBytes(Model):
    """Bytes of the rows of all lists, with 1,536 for the result of each address."""

    used: int
    limit: int
    """Of the plan."""


@dataclass(frozen=True)
class UsageStorageFilters(Model):
    """Number of filters."""

    used: int
    limit: int
    """Of the plan."""


@dataclass(frozen=True)
class UsageStorage(Model):
    """The object `UsageStorage` of the API."""

    list_bytes: UsageStorageListBytes
    """Bytes of the rows of all lists, with 1,536 for the result of each address."""
    filters: UsageStorageFilters
    """Number of filters."""

    _decoders: ClassVar[Decoders] = {
        "list_bytes": UsageStorageListBytes.from_dict,
        "filters": UsageStorageFilters.from_dict,
    }


@dataclass(frozen=True)
class UsageValidationTypesMx(Model):
    """The object `UsageValidationTypesMx` of the API."""

    credits: int
    """Credits that one answer at this level costs."""
    available: bool
    upgrade_required: str | None = None
    """The plan that has this level."""


@dataclass(frozen=True)
class UsageValidationTypesSmtp(Model):
    """The object `UsageValidationTypesSmtp` of the API."""

    credits: int
    """Credits that one answer at this level costs."""
    available: bool
    upgrade_required: str | None = None
    """The plan that has this level."""


@dataclass(frozen=True)
class UsageValidationTypes(Model):
    """The object `UsageValidationTypes` of the API."""

    mx: UsageValidationTypesMx
    smtp: UsageValidationTypesSmtp

    _decoders: ClassVar[Decoders] = {
        "mx": UsageValidationTypesMx.from_dict,
        "smtp": UsageValidationTypesSmtp.from_dict,
    }


@dataclass(frozen=True)
class UsageTotals(Model):
    """The object `UsageTotals` of the API."""

    requests: int
    """Recorded verifications; neither replays nor refusals."""
    good: int
    bad: int
    by_reason: dict[str, int]


@dataclass(frozen=True)
class UsageSeries(Model):
    """The object `UsageSeries` of the API."""

    group: str
    requests: int
    good: int
    bad: int
    credits: int


@dataclass(frozen=True)
class Usage(Model):
    """The object `Usage` of the API."""

    plan: str
    """The name of the plan."""
    period: UsagePeriod
    """The calendar month, UTC."""
    credits: UsageCredits
    rate_limit: UsageRateLimit
    storage: UsageStorage
    validation_types: UsageValidationTypes
    unknown_credits: int
    """Credits that a check costs which ends without an answer."""
    totals: UsageTotals
    warnings: list[str]
    """What the request has that is unknown, or changes nothing."""
    series: list[UsageSeries] | None = None

    _decoders: ClassVar[Decoders] = {
        "period": UsagePeriod.from_dict,
        "credits": UsageCredits.from_dict,
        "rate_limit": UsageRateLimit.from_dict,
        "storage": UsageStorage.from_dict,
        "validation_types": UsageValidationTypes.from_dict,
        "totals": UsageTotals.from_dict,
        "series": items(UsageSeries.from_dict),
    }


@dataclass(frozen=True)
class FilterAdded(Model):
    """The object `FilterAdded` of the API."""

    id: int
    """Counted within the account."""
    filter_type: Literal["email", "domain", "ip_address", "mx_host"]
    value: str
    """In canonical form."""
    reason: str | None
    action: Literal["block", "allow"]
    """
    `block`: what matches is bad. `allow`: the lists, and filters that are less specific, do not
    count.
    """
    match: Literal["exact", "mailbox"]
    """`mailbox`, of an address: every spelling of its mailbox."""
    expires_at: str | None
    """From then on it matches nothing."""
    expired: bool
    """Whether `expires_at` has come; the filter is removed 30 days later."""
    hits: int
    """Results that it has decided, or let pass."""
    last_hit_at: str | None
    created_at: str
    warnings: list[str]
    """What the request has that is unknown, or changes nothing."""


@dataclass(frozen=True)
class Filter(Model):
    """The object `Filter` of the API."""

    id: int
    """Counted within the account."""
    filter_type: Literal["email", "domain", "ip_address", "mx_host"]
    value: str
    """In canonical form."""
    reason: str | None
    action: Literal["block", "allow"]
    """
    `block`: what matches is bad. `allow`: the lists, and filters that are less specific, do not
    count.
    """
    match: Literal["exact", "mailbox"]
    """`mailbox`, of an address: every spelling of its mailbox."""
    expires_at: str | None
    """From then on it matches nothing."""
    expired: bool
    """Whether `expires_at` has come; the filter is removed 30 days later."""
    hits: int
    """Results that it has decided, or let pass."""
    last_hit_at: str | None
    created_at: str


@dataclass(frozen=True)
class Filters(Model):
    """The object `Filters` of the API."""

    filters: list[Filter]
    pagination: Pagination
    warnings: list[str]
    """What the request has that is unknown, or changes nothing."""

    _decoders: ClassVar[Decoders] = {
        "filters": items(Filter.from_dict),
        "pagination": Pagination.from_dict,
    }


@dataclass(frozen=True)
class FilterImportErrors(Model):
    """The object `FilterImportErrors` of the API."""

    row: int
    """Line of the text, or row of the sheet."""
    text: str
    """The row, shortened."""
    field: str | None
    """What is wrong; null: the row as a whole."""
    error: str
    """One sentence that names the remedy."""


@dataclass(frozen=True)
class FilterImportFilters(Model):
    """The object `FilterImportFilters` of the API."""

    row: int
    """Line of the text, or row of the sheet."""
    filter_type: Literal["email", "domain", "ip_address", "mx_host"]
    value: str
    """In canonical form."""
    reason: str | None
    action: Literal["block", "allow"]
    match: Literal["exact", "mailbox"]
    expires_at: str | None


@dataclass(frozen=True)
class FilterImportReadColumns(Model):
    """The object `FilterImportReadColumns` of the API."""

    column: str
    field: Literal["filter_type", "value", "reason", "action", "match", "expires_at"] | None
    """What it holds; null: it is not used."""


@dataclass(frozen=True)
class FilterImportRead(Model):
    """How the file was read."""

    format: Literal["csv", "tsv", "text", "ndjson", "json", "vcard", "ldif", "xlsx", "xlsb", "xls", "ods", "spreadsheetml", "html"] | None
    """As detected."""
    delimiter: str | None
    """Between the cells of a row."""
    encoding: str | None
    sheet: str | None
    """Of a workbook."""
    entry: str | None
    """Of an archive."""
    header_row: int | None
    """Row of the file with the names of the columns; 0: none."""
    columns: list[FilterImportReadColumns]

    _decoders: ClassVar[Decoders] = {
        "columns": items(FilterImportReadColumns.from_dict),
    }


@dataclass(frozen=True)
class FilterImport(Model):
    """The object `FilterImport` of the API."""

    dry_run: bool
    rows: int
    """Those that are not blank."""
    added: int
    """Filters that were added, or would be."""
    existing: int
    """Those that there are already, or that an earlier row has."""
    invalid: int
    """Those that cannot be used, and change nothing."""
    errors: list[FilterImportErrors]
    """Of the first 1,000 rows that cannot be used."""
    filters: list[FilterImportFilters]
    """The first 20 that can be used, as they were read."""
    read: FilterImportRead
    """How the file was read."""
    warnings: list[str]
    """About the file, and what the request has that is unknown."""

    _decoders: ClassVar[Decoders] = {
        "errors": items(FilterImportErrors.from_dict),
        "filters": items(FilterImportFilters.from_dict),
        "read": FilterImportRead.from_dict,
    }


@dataclass(frozen=True)
class FilterDetails(Model):
    """The object `FilterDetails` of the API."""

    id: int
    """Counted within the account."""
    filter_type: Literal["email", "domain", "ip_address", "mx_host"]
    value: str
    """In canonical form."""
    reason: str | None
    action: Literal["block", "allow"]
    """
    `block`: what matches is bad. `allow`: the lists, and filters that are less specific, do not
    count.
    """
    match: Literal["exact", "mailbox"]
    """`mailbox`, of an address: every spelling of its mailbox."""
    expires_at: str | None
    """From then on it matches nothing."""
    expired: bool
    """Whether `expires_at` has come; the filter is removed 30 days later."""
    hits: int
    """Results that it has decided, or let pass."""
    last_hit_at: str | None
    created_at: str
    warnings: list[str]
    """What the request has that is unknown, or changes nothing."""


@dataclass(frozen=True)
class FilterRemoved(Model):
    """The object `FilterRemoved` of the API."""

    status: str
    message: str
    warnings: list[str]
    """What the request has that is unknown, or changes nothing."""


@dataclass(frozen=True)
class PolicySignals(Model):
    """The object `PolicySignals` of the API."""

    disposable: Literal["accept", "review", "reject"]
    """`is_disposable` is true"""
    relay: Literal["accept", "review", "reject"]
    """`is_relay` is true"""
    role: Literal["accept", "review", "reject"]
    """`is_role` is true"""
    free: Literal["accept", "review", "reject"]
    """`is_free` is true"""
    catch_all: Literal["accept", "review", "reject"]
    """`is_catch_all` is true"""
    unknown: Literal["accept", "review", "reject"]
    """
    `deliverability` is `unknown`, and `reason` says why; `mx` alone, which asks no mailbox, does
    not count
    """
    full: Literal["accept", "review", "reject"]
    """`is_mailbox_full` is true"""
    typo: Literal["accept", "review", "reject"]
    """`did_you_mean` has an address"""
    tag: Literal["accept", "review", "reject"]
    """`tag` has a text"""
    seen_before: Literal["accept", "review", "reject"]
    """`seen.before` is true; only requests with a `scope` know it"""


@dataclass(frozen=True)
class PolicyMessages(Model):
    """
    For the person who entered the address: by signal, then by language, at most 20 of 200
    characters each. The first language is for all that have none.
    """

    undeliverable: dict[str, str] | None = None
    disposable: dict[str, str] | None = None
    relay: dict[str, str] | None = None
    role: dict[str, str] | None = None
    free: dict[str, str] | None = None
    catch_all: dict[str, str] | None = None
    unknown: dict[str, str] | None = None
    full: dict[str, str] | None = None
    typo: dict[str, str] | None = None
    tag: dict[str, str] | None = None
    seen_before: dict[str, str] | None = None
    outage: dict[str, str] | None = None


@dataclass(frozen=True)
class Policy(Model):
    """The object `Policy` of the API."""

    name: str
    built_in: bool
    """Comes with the service: can be copied, not changed or deleted."""
    signals: PolicySignals
    validation_type: Literal["mx", "smtp"]
    """Level of the check where the request has none."""
    timeout_ms: int
    """Time limit of the check in milliseconds, where the request has none."""
    on_outage: Literal["accept", "review", "reject"]
    """
    What to decide where there is no verdict, because of an outage, an empty balance or a limit.
    """
    messages: PolicyMessages
    created_at: str | None
    """Null where it is built in."""
    changed_at: str | None
    """Null where it is built in."""

    _decoders: ClassVar[Decoders] = {
        "signals": PolicySignals.from_dict,
        "messages": PolicyMessages.from_dict,
    }


@dataclass(frozen=True)
class PolicyList(Model):
    """The object `PolicyList` of the API."""

    policies: list[Policy]
    """By name; those that are built in come first. At most 50 and those."""
    warnings: list[str]
    """What the request has that is unknown, or changes nothing."""

    _decoders: ClassVar[Decoders] = {
        "policies": items(Policy.from_dict),
    }


@dataclass(frozen=True)
class PolicyDetails(Model):
    """The object `PolicyDetails` of the API."""

    name: str
    built_in: bool
    """Comes with the service: can be copied, not changed or deleted."""
    signals: PolicySignals
    validation_type: Literal["mx", "smtp"]
    """Level of the check where the request has none."""
    timeout_ms: int
    """Time limit of the check in milliseconds, where the request has none."""
    on_outage: Literal["accept", "review", "reject"]
    """
    What to decide where there is no verdict, because of an outage, an empty balance or a limit.
    """
    messages: PolicyMessages
    created_at: str | None
    """Null where it is built in."""
    changed_at: str | None
    """Null where it is built in."""
    warnings: list[str]
    """What the request has that is unknown, or changes nothing."""

    _decoders: ClassVar[Decoders] = {
        "signals": PolicySignals.from_dict,
        "messages": PolicyMessages.from_dict,
    }


@dataclass(frozen=True)
class PolicyDeleted(Model):
    """The object `PolicyDeleted` of the API."""

    status: str
    message: str
    warnings: list[str]
    """What the request has that is unknown, or changes nothing."""


@dataclass(frozen=True)
class OutcomeResult(Model):
    """The object `OutcomeResult` of the API."""

    result: Literal["recorded", "duplicate", "error"]
    """`duplicate`: it had been reported before, and counts once."""
    class_: Literal["delivered", "absent", "disabled", "full", "domain", "sender", "unclear", "deferred", "complained"] | None = None
    """
    What it is evidence of: of a bounce, as its diagnostic is read. Only `delivered`, `absent`,
    `disabled` and `full` are about the address.
    """
    error: str | None = None
    """What is wrong with the row, in one sentence."""
    field: str | None = None
    """Of the row."""


@dataclass(frozen=True)
class OutcomesResult(Model):
    """The object `OutcomesResult` of the API."""

    results: list[OutcomeResult]
    """One for each row, in their order."""
    recorded: int
    """Rows that were recorded."""
    duplicates: int
    """Rows that had been reported before."""
    errors: int
    """Rows with an error."""
    warnings: list[str]
    """What the request has that is unknown, or changes nothing."""

    _decoders: ClassVar[Decoders] = {
        "results": items(OutcomeResult.from_dict),
    }


@dataclass(frozen=True)
class OutcomeMessageResultOutcomes(Model):
    """The object `OutcomeMessageResultOutcomes` of the API."""

    email: str
    outcome: Literal["delivered", "bounced", "deferred", "complained"]
    result: Literal["recorded", "duplicate", "error"]
    """`duplicate`: it had been reported before, and counts once."""
    class_: Literal["delivered", "absent", "disabled", "full", "domain", "sender", "unclear", "deferred", "complained"] | None = None
    """
    What it is evidence of: of a bounce, as its diagnostic is read. Only `delivered`, `absent`,
    `disabled` and `full` are about the address.
    """
    error: str | None = None
    """What is wrong with the row, in one sentence."""
    field: str | None = None
    """Of the row."""


@dataclass(frozen=True)
class OutcomeMessageResultDisregarded(Model):
    """The object `OutcomeMessageResultDisregarded` of the API."""

    email: str | None
    """Null: of the whole message."""
    why: str
    """Stable, as `delayed` or `auto_reply`."""
    message: str


@dataclass(frozen=True)
class OutcomeMessageResult(Model):
    """The object `OutcomeMessageResult` of the API."""

    outcomes: list[OutcomeMessageResultOutcomes]
    """Outcomes of the recipients that it names."""
    disregarded: list[OutcomeMessageResultDisregarded]
    """What of it counts as nothing."""
    warnings: list[str]
    """What the request has that is unknown, or changes nothing."""

    _decoders: ClassVar[Decoders] = {
        "outcomes": items(OutcomeMessageResultOutcomes.from_dict),
        "disregarded": items(OutcomeMessageResultDisregarded.from_dict),
    }


@dataclass(frozen=True)
class CalibratedVerdict(Model):
    """The object `CalibratedVerdict` of the API."""

    deliverability: Deliverability
    reason: Reason | None
    validation_type: Literal["mx", "smtp"]
    provider: str | None
    """Who runs the mail hosts."""
    sent: int
    """Verdicts with an outcome."""
    bounced: int
    """Of these, whose mail bounced for a reason of the recipient."""
    bounce_rate: float | None
    """bounced / sent; null with fewer than 50."""
    low: float | None
    """Of its 95 % interval; null with fewer than 50."""
    high: float | None
    """Of its 95 % interval; null with fewer than 50."""


@dataclass(frozen=True)
class Reliability(Model):
    """The object `Reliability` of the API."""

    from_: float
    """Of the confidence that replies had."""
    to: float
    sent: int
    """Verdicts with an outcome."""
    predicted: float
    """Their confidence on the average."""
    delivered: float | None
    """The share whose mail did not bounce; null with fewer than 50."""
    low: float | None
    """Of its 95 % interval; null with fewer than 50."""
    high: float | None
    """Of its 95 % interval; null with fewer than 50."""


@dataclass(frozen=True)
class ListedContradiction(Model):
    """The object `ListedContradiction` of the API."""

    verification_id: str
    deliverability: Deliverability
    reason: Reason | None
    validation_type: Literal["mx", "smtp"]
    provider: str | None
    """Who runs the mail hosts."""
    outcome: Literal["delivered", "bounced"]
    """What became of the mail."""
    at: str
    rule: str | None
    """The classification rule that decided the verdict."""
    reply: str | None
    """The codes of the reply that decided it."""
    code: str | None
    """The codes of the bounce."""
    template: str | None
    """The words of the bounce, without names, addresses, numbers and IDs."""


@dataclass(frozen=True)
class Calibration(Model):
    """The object `Calibration` of the API."""

    verdicts: list[CalibratedVerdict]
    """By deliverability, reason, level and mail provider; the most frequent first."""
    reliability: list[Reliability]
    """What replies predicted, beside what came of it: by tenths of their confidence, ascending."""
    contradictions: list[ListedContradiction]
    """Verdicts that the outcome contradicts, the newest first; at most 100."""
    warnings: list[str]
    """What the request has that is unknown, or changes nothing."""

    _decoders: ClassVar[Decoders] = {
        "verdicts": items(CalibratedVerdict.from_dict),
        "reliability": items(Reliability.from_dict),
        "contradictions": items(ListedContradiction.from_dict),
    }


@dataclass(frozen=True)
class PrivacyExport(Model):
    """The object `PrivacyExport` of the API."""

    email: str
    canonical: bool
    exported_at: str
    held: dict[str, list[dict[str, Any]]]
    """
    The rows of each table that has some, such as `verifications`, `list_blocks`, `filters`,
    `trail`.
    """


@dataclass(frozen=True)
class PrivacyErased(Model):
    """The object `PrivacyErased` of the API."""

    erased: int
    """The sum of `tables`."""
    tables: dict[str, int]
    """Rows by table that were deleted, or have a hash in place of the address."""
    kept: dict[str, int]
    """
    Rows by table that still mention the address: filters, settings, and what is kept of users of
    the dashboard.
    """
    warnings: list[str]
    """What the request has that is unknown, or changes nothing."""


@dataclass(frozen=True)
class WebhookCreated(Model):
    """The object `WebhookCreated` of the API."""

    id: str
    url: str
    """Of a chat: without the part that is its secret."""
    format: Literal["events", "slack"]
    """`events`: signed JSON; `slack`: `{"text": …}` for a chat, of those events that are alerts."""
    events: list[Literal["list.completed", "list.failed", "list.cancelled", "credits.low", "account.created", "credits.granted", "credits.exhausted", "key.created", "key.revoked", "outcomes.contradiction", "rejections.high", "unknowns.high", "budget.low", "webhook.failing", "smtp.unreachable", "ping", "*"]]
    """The events that it receives; `*`: all of them."""
    description: str | None
    enabled: bool
    disabled_reason: Literal["manual", "gone", "failing"] | None
    """`manual`: by a request; `gone`: it answered 410; `failing`: every attempt failed for days."""
    disabled_at: str | None
    failing_since: str | None
    """Every attempt since then has failed."""
    previous_secret_until: str | None
    """Until then the secrets before the last rotation sign as well."""
    created_at: str
    secret: str
    """Signs what is sent; shown only now."""
    warnings: list[str]
    """What the request has that is unknown, or changes nothing."""


@dataclass(frozen=True)
class Webhook(Model):
    """The object `Webhook` of the API."""

    id: str
    url: str
    """Of a chat: without the part that is its secret."""
    format: Literal["events", "slack"]
    """`events`: signed JSON; `slack`: `{"text": …}` for a chat, of those events that are alerts."""
    events: list[Literal["list.completed", "list.failed", "list.cancelled", "credits.low", "account.created", "credits.granted", "credits.exhausted", "key.created", "key.revoked", "outcomes.contradiction", "rejections.high", "unknowns.high", "budget.low", "webhook.failing", "smtp.unreachable", "ping", "*"]]
    """The events that it receives; `*`: all of them."""
    description: str | None
    enabled: bool
    disabled_reason: Literal["manual", "gone", "failing"] | None
    """`manual`: by a request; `gone`: it answered 410; `failing`: every attempt failed for days."""
    disabled_at: str | None
    failing_since: str | None
    """Every attempt since then has failed."""
    previous_secret_until: str | None
    """Until then the secrets before the last rotation sign as well."""
    created_at: str


@dataclass(frozen=True)
class WebhookList(Model):
    """The object `WebhookList` of the API."""

    webhooks: list[Webhook]
    warnings: list[str]
    """What the request has that is unknown, or changes nothing."""

    _decoders: ClassVar[Decoders] = {
        "webhooks": items(Webhook.from_dict),
    }


@dataclass(frozen=True)
class WebhookDetails(Model):
    """The object `WebhookDetails` of the API."""

    id: str
    url: str
    """Of a chat: without the part that is its secret."""
    format: Literal["events", "slack"]
    """`events`: signed JSON; `slack`: `{"text": …}` for a chat, of those events that are alerts."""
    events: list[Literal["list.completed", "list.failed", "list.cancelled", "credits.low", "account.created", "credits.granted", "credits.exhausted", "key.created", "key.revoked", "outcomes.contradiction", "rejections.high", "unknowns.high", "budget.low", "webhook.failing", "smtp.unreachable", "ping", "*"]]
    """The events that it receives; `*`: all of them."""
    description: str | None
    enabled: bool
    disabled_reason: Literal["manual", "gone", "failing"] | None
    """`manual`: by a request; `gone`: it answered 410; `failing`: every attempt failed for days."""
    disabled_at: str | None
    failing_since: str | None
    """Every attempt since then has failed."""
    previous_secret_until: str | None
    """Until then the secrets before the last rotation sign as well."""
    created_at: str
    warnings: list[str]
    """What the request has that is unknown, or changes nothing."""


@dataclass(frozen=True)
class WebhookDeleted(Model):
    """The object `WebhookDeleted` of the API."""

    status: str
    message: str
    warnings: list[str]
    """What the request has that is unknown, or changes nothing."""


@dataclass(frozen=True)
class DeliveryDetailsAttempts(Model):
    """The object `DeliveryDetailsAttempts` of the API."""

    at: str
    status: int | None
    """Of the HTTP reply; null: there was none."""
    error: Literal["timeout", "unknown_host", "dns_failure", "address_not_allowed", "not_https", "connection_failed", "certificate_expired", "certificate_name_mismatch", "certificate_untrusted", "tls_failed", "invalid_reply"] | None
    """Why there was no reply."""
    duration_ms: int
    response: str | None
    """The first 1 KiB of the reply’s body."""


@dataclass(frozen=True)
class DeliveryDetails(Model):
    """The object `DeliveryDetails` of the API."""

    id: str
    webhook_id: str
    """The webhook that it is sent to."""
    event_id: str
    """The header `webhook-id`: the same in each attempt and replay."""
    event: Literal["list.completed", "list.failed", "list.cancelled", "credits.low", "account.created", "credits.granted", "credits.exhausted", "key.created", "key.revoked", "outcomes.contradiction", "rejections.high", "unknowns.high", "budget.low", "webhook.failing", "smtp.unreachable", "ping"]
    status: Literal["pending", "delivered", "failed"]
    attempts: list[DeliveryDetailsAttempts]
    """In order of time."""
    next_attempt_at: str | None
    created_at: str
    finished_at: str | None
    warnings: list[str]
    """What the request has that is unknown, or changes nothing."""

    _decoders: ClassVar[Decoders] = {
        "attempts": items(DeliveryDetailsAttempts.from_dict),
    }


@dataclass(frozen=True)
class DeliveryAttempts(Model):
    """The object `DeliveryAttempts` of the API."""

    at: str
    status: int | None
    """Of the HTTP reply; null: there was none."""
    error: Literal["timeout", "unknown_host", "dns_failure", "address_not_allowed", "not_https", "connection_failed", "certificate_expired", "certificate_name_mismatch", "certificate_untrusted", "tls_failed", "invalid_reply"] | None
    """Why there was no reply."""
    duration_ms: int
    response: str | None
    """The first 1 KiB of the reply’s body."""


@dataclass(frozen=True)
class Delivery(Model):
    """The object `Delivery` of the API."""

    id: str
    webhook_id: str
    """The webhook that it is sent to."""
    event_id: str
    """The header `webhook-id`: the same in each attempt and replay."""
    event: Literal["list.completed", "list.failed", "list.cancelled", "credits.low", "account.created", "credits.granted", "credits.exhausted", "key.created", "key.revoked", "outcomes.contradiction", "rejections.high", "unknowns.high", "budget.low", "webhook.failing", "smtp.unreachable", "ping"]
    status: Literal["pending", "delivered", "failed"]
    attempts: list[DeliveryAttempts]
    """In order of time."""
    next_attempt_at: str | None
    created_at: str
    finished_at: str | None

    _decoders: ClassVar[Decoders] = {
        "attempts": items(DeliveryAttempts.from_dict),
    }


@dataclass(frozen=True)
class Deliveries(Model):
    """The object `Deliveries` of the API."""

    deliveries: list[Delivery]
    pagination: Pagination
    warnings: list[str]
    """What the request has that is unknown, or changes nothing."""

    _decoders: ClassVar[Decoders] = {
        "deliveries": items(Delivery.from_dict),
        "pagination": Pagination.from_dict,
    }


@dataclass(frozen=True)
class ListCompletedEvent(Model):
    """The object `ListCompletedEvent` of the API."""

    type: Literal["list.completed"]
    timestamp: str
    data: List

    _decoders: ClassVar[Decoders] = {
        "data": List.from_dict,
    }


@dataclass(frozen=True)
class ListFailedEvent(Model):
    """The object `ListFailedEvent` of the API."""

    type: Literal["list.failed"]
    timestamp: str
    data: List

    _decoders: ClassVar[Decoders] = {
        "data": List.from_dict,
    }


@dataclass(frozen=True)
class ListCancelledEvent(Model):
    """The object `ListCancelledEvent` of the API."""

    type: Literal["list.cancelled"]
    timestamp: str
    data: List

    _decoders: ClassVar[Decoders] = {
        "data": List.from_dict,
    }


@dataclass(frozen=True)
class CreditsLowEventDataCredits(Model):
    """The object `CreditsLowEventDataCredits` of the API."""

    total: int
    """What the account holds: `remaining` and `locked` together."""
    locked: int
    """Held by checks that are still running."""
    used: int
    """Charged in the calendar month, UTC."""
    remaining: int
    """What can still be spent."""
    unlimited: bool
    """Whether the plan gives as many credits as are needed: the numbers are then very large."""
    allowance: int
    """
    What is left of the month’s allowance, out of `total`. It is spent before what was purchased.
    """
    purchased: int
    """The rest of `total`, which does not end with the month."""


@dataclass(frozen=True)
class CreditsLowEventDataAccount(Model):
    """The object `CreditsLowEventDataAccount` of the API."""

    id: str
    name: str
    external_id: str | None


@dataclass(frozen=True)
class CreditsLowEventData(Model):
    """The object `CreditsLowEventData` of the API."""

    credits: CreditsLowEventDataCredits
    low_balance: int
    """The alert threshold of the account."""
    account: CreditsLowEventDataAccount | None = None

    _decoders: ClassVar[Decoders] = {
        "credits": CreditsLowEventDataCredits.from_dict,
        "account": CreditsLowEventDataAccount.from_dict,
    }


@dataclass(frozen=True)
class CreditsLowEvent(Model):
    """The object `CreditsLowEvent` of the API."""

    type: Literal["credits.low"]
    timestamp: str
    data: CreditsLowEventData

    _decoders: ClassVar[Decoders] = {
        "data": CreditsLowEventData.from_dict,
    }


@dataclass(frozen=True)
class AccountCreatedEventDataAccount(Model):
    """The object `AccountCreatedEventDataAccount` of the API."""

    id: str
    name: str
    external_id: str | None


@dataclass(frozen=True)
class AccountCreatedEventData(Model):
    """The object `AccountCreatedEventData` of the API."""

    account: AccountCreatedEventDataAccount
    plan: str
    credits: int
    """The opening balance."""

    _decoders: ClassVar[Decoders] = {
        "account": AccountCreatedEventDataAccount.from_dict,
    }


@dataclass(frozen=True)
class AccountCreatedEvent(Model):
    """The object `AccountCreatedEvent` of the API."""

    type: Literal["account.created"]
    timestamp: str
    data: AccountCreatedEventData

    _decoders: ClassVar[Decoders] = {
        "data": AccountCreatedEventData.from_dict,
    }


@dataclass(frozen=True)
class CreditsGrantedEventDataAccount(Model):
    """The object `CreditsGrantedEventDataAccount` of the API."""

    id: str
    name: str
    external_id: str | None


@dataclass(frozen=True)
class CreditsGrantedEventData(Model):
    """The object `CreditsGrantedEventData` of the API."""

    account: CreditsGrantedEventDataAccount
    credits: int
    """Negative: taken back."""
    note: str
    balance: int
    """After it."""

    _decoders: ClassVar[Decoders] = {
        "account": CreditsGrantedEventDataAccount.from_dict,
    }


@dataclass(frozen=True)
class CreditsGrantedEvent(Model):
    """The object `CreditsGrantedEvent` of the API."""

    type: Literal["credits.granted"]
    timestamp: str
    data: CreditsGrantedEventData

    _decoders: ClassVar[Decoders] = {
        "data": CreditsGrantedEventData.from_dict,
    }


@dataclass(frozen=True)
class CreditsExhaustedEventDataAccount(Model):
    """The object `CreditsExhaustedEventDataAccount` of the API."""

    id: str
    name: str
    external_id: str | None


@dataclass(frozen=True)
class CreditsExhaustedEventData(Model):
    """The object `CreditsExhaustedEventData` of the API."""

    account: CreditsExhaustedEventDataAccount

    _decoders: ClassVar[Decoders] = {
        "account": CreditsExhaustedEventDataAccount.from_dict,
    }


@dataclass(frozen=True)
class CreditsExhaustedEvent(Model):
    """The object `CreditsExhaustedEvent` of the API."""

    type: Literal["credits.exhausted"]
    timestamp: str
    data: CreditsExhaustedEventData

    _decoders: ClassVar[Decoders] = {
        "data": CreditsExhaustedEventData.from_dict,
    }


@dataclass(frozen=True)
class Key(Model):
    """The object `Key` of the API."""

    id: str
    name: str
    key: str
    """`mv_live_…` and the last four characters."""
    allow_ips: list[str]
    scopes: list[str]
    monthly_credits: int | None
    """Null: no budget."""
    created_at: str
    expires_at: str | None
    revoked_at: str | None
    """From then on it is refused."""


@dataclass(frozen=True)
class KeyCreatedEvent(Model):
    """The object `KeyCreatedEvent` of the API."""

    type: Literal["key.created"]
    timestamp: str
    data: Key

    _decoders: ClassVar[Decoders] = {
        "data": Key.from_dict,
    }


@dataclass(frozen=True)
class KeyRevokedEvent(Model):
    """The object `KeyRevokedEvent` of the API."""

    type: Literal["key.revoked"]
    timestamp: str
    data: Key

    _decoders: ClassVar[Decoders] = {
        "data": Key.from_dict,
    }


@dataclass(frozen=True)
class Contradiction(Model):
    """The object `Contradiction` of the API."""

    verification_id: str
    deliverability: Deliverability
    reason: Reason | None
    validation_type: Literal["mx", "smtp"]
    provider: str | None
    """Who runs the mail hosts."""
    outcome: Literal["delivered", "bounced"]
    """What became of the mail."""
    at: str
    rule: str | None
    """The classification rule that decided the verdict."""
    reply: str | None
    """The codes of the reply that decided it."""
    code: str | None
    """The codes of the bounce."""


@dataclass(frozen=True)
class ContradictionEventData(Model):
    """The object `ContradictionEventData` of the API."""

    total: int
    """How many verdicts."""
    contradictions: list[Contradiction]
    """At most 100 of them; all are in the calibration."""

    _decoders: ClassVar[Decoders] = {
        "contradictions": items(Contradiction.from_dict),
    }


@dataclass(frozen=True)
class ContradictionEvent(Model):
    """The object `ContradictionEvent` of the API."""

    type: Literal["outcomes.contradiction"]
    timestamp: str
    data: ContradictionEventData

    _decoders: ClassVar[Decoders] = {
        "data": ContradictionEventData.from_dict,
    }


@dataclass(frozen=True)
class RejectionsHighEventData(Model):
    """The object `RejectionsHighEventData` of the API."""

    rejected: int
    """Since then."""
    usual: int
    """In as long a time, on average of the week before."""
    since: str


@dataclass(frozen=True)
class RejectionsHighEvent(Model):
    """The object `RejectionsHighEvent` of the API."""

    type: Literal["rejections.high"]
    timestamp: str
    data: RejectionsHighEventData

    _decoders: ClassVar[Decoders] = {
        "data": RejectionsHighEventData.from_dict,
    }


@dataclass(frozen=True)
class UnknownsHighEventData(Model):
    """The object `UnknownsHighEventData` of the API."""

    unknown: int
    """Since then."""
    share: float
    """Of all that was asked about, from 0 to 1."""
    usual_share: float
    """Of the week before."""
    since: str


@dataclass(frozen=True)
class UnknownsHighEvent(Model):
    """The object `UnknownsHighEvent` of the API."""

    type: Literal["unknowns.high"]
    timestamp: str
    data: UnknownsHighEventData

    _decoders: ClassVar[Decoders] = {
        "data": UnknownsHighEventData.from_dict,
    }


@dataclass(frozen=True)
class BudgetLowEventData(Model):
    """The object `BudgetLowEventData` of the API."""

    key_id: str
    name: str
    monthly_credits: int
    used: int
    resets_at: str


@dataclass(frozen=True)
class BudgetLowEvent(Model):
    """The object `BudgetLowEvent` of the API."""

    type: Literal["budget.low"]
    timestamp: str
    data: BudgetLowEventData

    _decoders: ClassVar[Decoders] = {
        "data": BudgetLowEventData.from_dict,
    }


@dataclass(frozen=True)
class WebhookFailingEventData(Model):
    """The object `WebhookFailingEventData` of the API."""

    webhook_id: str
    url: str
    """Without what may be a secret."""
    failing_since: str


@dataclass(frozen=True)
class WebhookFailingEvent(Model):
    """The object `WebhookFailingEvent` of the API."""

    type: Literal["webhook.failing"]
    timestamp: str
    data: WebhookFailingEventData

    _decoders: ClassVar[Decoders] = {
        "data": WebhookFailingEventData.from_dict,
    }


@dataclass(frozen=True)
class SmtpUnreachableEventData(Model):
    """The object `SmtpUnreachableEventData` of the API."""

    state: Literal["port_closed", "refused_everywhere"]
    since: str


@dataclass(frozen=True)
class SmtpUnreachableEvent(Model):
    """The object `SmtpUnreachableEvent` of the API."""

    type: Literal["smtp.unreachable"]
    timestamp: str
    data: SmtpUnreachableEventData

    _decoders: ClassVar[Decoders] = {
        "data": SmtpUnreachableEventData.from_dict,
    }


@dataclass(frozen=True)
class PingEventData(Model):
    """The object `PingEventData` of the API."""

    webhook_id: str


@dataclass(frozen=True)
class PingEvent(Model):
    """The object `PingEvent` of the API."""

    type: Literal["ping"]
    timestamp: str
    data: PingEventData

    _decoders: ClassVar[Decoders] = {
        "data": PingEventData.from_dict,
    }


class ListPatchRead(TypedDict, total=False):
    """As in the upload; what is null or left out in it is detected."""

    columns: str | Sequence[str | int] | None
    column: str | int | None
    header_row: int | None
    header: bool | Literal["auto"] | bool | None
    delimiter: str | None
    encoding: str | None
    sheet: str | int | None
    entry: str | None


class PolicySignalsRequest(TypedDict, total=False):
    """What is not there is accepted."""

    disposable: Literal["accept", "review", "reject"]
    relay: Literal["accept", "review", "reject"]
    role: Literal["accept", "review", "reject"]
    free: Literal["accept", "review", "reject"]
    catch_all: Literal["accept", "review", "reject"]
    unknown: Literal["accept", "review", "reject"]
    full: Literal["accept", "review", "reject"]
    typo: Literal["accept", "review", "reject"]
    tag: Literal["accept", "review", "reject"]
    seen_before: Literal["accept", "review", "reject"]


class PolicyMessagesRequest(TypedDict, total=False):
    """
    For the person who entered the address: by signal, then by language, at most 20 of 200
    characters each. The first language is for all that have none.
    """

    undeliverable: Mapping[str, str]
    disposable: Mapping[str, str]
    relay: Mapping[str, str]
    role: Mapping[str, str]
    free: Mapping[str, str]
    catch_all: Mapping[str, str]
    unknown: Mapping[str, str]
    full: Mapping[str, str]
    typo: Mapping[str, str]
    tag: Mapping[str, str]
    seen_before: Mapping[str, str]
    outage: Mapping[str, str]


class _OutcomeRequired(TypedDict):
    outcome: Literal["delivered", "bounced", "deferred", "complained"]
    at: str


class Outcome(_OutcomeRequired, total=False):
    """The object `Outcome` of a request."""

    email: str
    verification_id: str
    diagnostic: str
    source: str


WebhookEvent = ListCompletedEvent | ListFailedEvent | ListCancelledEvent | CreditsLowEvent | AccountCreatedEvent | CreditsGrantedEvent | CreditsExhaustedEvent | KeyCreatedEvent | KeyRevokedEvent | ContradictionEvent | RejectionsHighEvent | UnknownsHighEvent | BudgetLowEvent | WebhookFailingEvent | SmtpUnreachableEvent | PingEvent
"""What a webhook receives: ``type`` says which one it is, and ``data`` is what it is about."""

WEBHOOK_EVENTS: dict[str, type[WebhookEvent]] = {
    "list.completed": ListCompletedEvent,
    "list.failed": ListFailedEvent,
    "list.cancelled": ListCancelledEvent,
    "credits.low": CreditsLowEvent,
    "account.created": AccountCreatedEvent,
    "credits.granted": CreditsGrantedEvent,
    "credits.exhausted": CreditsExhaustedEvent,
    "key.created": KeyCreatedEvent,
    "key.revoked": KeyRevokedEvent,
    "outcomes.contradiction": ContradictionEvent,
    "rejections.high": RejectionsHighEvent,
    "unknowns.high": UnknownsHighEvent,
    "budget.low": BudgetLowEvent,
    "webhook.failing": WebhookFailingEvent,
    "smtp.unreachable": SmtpUnreachableEvent,
    "ping": PingEvent,
}
