# Generated from the OpenAPI document by `npm run gen`; edit the contract or scripts/gen/python.ts.
"""A class for each error code of the service; all are of the class ``MailvetError``."""

from __future__ import annotations

from ._error import MailvetError


class InvalidJsonError(MailvetError):
    """``invalid_json`` (400). Send one JSON object, encoded as UTF-8."""


class MissingParameterError(MailvetError):
    """``missing_parameter`` (400). Send the parameter that ``field`` names."""


class InvalidParameterError(MailvetError):
    """
    ``invalid_parameter`` (400). Correct the parameter that ``field`` names; the message says what
    it accepts.
    """


class MissingApiKeyError(MailvetError):
    """``missing_api_key`` (401). Add the header ``Authorization: Bearer mv_live_…``."""


class MalformedAuthorizationError(MailvetError):
    """
    ``malformed_authorization`` (401). The word ``Bearer`` once, exactly one space, the key, nothing
    else.
    """


class InvalidApiKeyError(MailvetError):
    """``invalid_api_key`` (401). Check the key for missing characters, or create a new one."""


class RevokedApiKeyError(MailvetError):
    """``revoked_api_key`` (401). Revocation is final. Create a new key."""


class ExpiredApiKeyError(MailvetError):
    """
    ``expired_api_key`` (401). Edit the key and set a later expiry date, or create a new one.
    ``expired_at`` says when it expired.
    """


class InsufficientCreditsError(MailvetError):
    """
    ``insufficient_credits`` (402). Grant credits to the account; ``GET /v1/usage`` shows the
    balance.
    """


class PlanUpgradeRequiredError(MailvetError):
    """
    ``plan_upgrade_required`` (402). Use ``mx``, or move the account to the plan that
    ``upgrade_required`` names.
    """


class KeyBudgetSpentError(MailvetError):
    """
    ``key_budget_spent`` (402). Wait until ``resets_at``, use another key, or raise the monthly
    budget of the key, which ``budget`` names.
    """


class IpNotAllowedError(MailvetError):
    """``ip_not_allowed`` (403). Call from a listed address, or edit the allowlist of the key."""


class ScopeMissingError(MailvetError):
    """
    ``scope_missing`` (403). Add the scope that ``scope`` names to the key, or use another key.
    """


class ApiKeyRequiredError(MailvetError):
    """
    ``api_key_required`` (403). Use an API key of the account. ``POST
    /v1/operator/accounts/:id/keys`` creates one.
    """


class OperatorKeyRequiredError(MailvetError):
    """
    ``operator_key_required`` (403). Create an operator key with ``mailvet operator-key create``.
    """


class MalformedRequestError(MailvetError):
    """
    ``malformed_request`` (400). Use an HTTP client. The connection is closed after this reply.
    """


class RequestTimeoutError(MailvetError):
    """
    ``request_timeout`` (408). Send the headers within 10 seconds, and the body within 14 seconds
    after them. The connection is closed after this reply.
    """


class HeadersTooLargeError(MailvetError):
    """``headers_too_large`` (431). Send fewer or shorter headers."""


class NotFoundError(MailvetError):
    """``not_found`` (404). Check the path and the id."""


class MethodNotAllowedError(MailvetError):
    """``method_not_allowed`` (405). Use a method listed in the ``Allow`` header."""


class IdempotencyInProgressError(MailvetError):
    """
    ``idempotency_in_progress`` (409). Wait ``Retry-After`` seconds, then send the same request
    again.
    """


class BalanceTooSmallError(MailvetError):
    """``balance_too_small`` (409). Take back at most the remaining credits."""


class GrantConflictError(MailvetError):
    """
    ``grant_conflict`` (409). Repeat a grant with the account and credits that it had, or use a new
    ``external_id``.
    """


class ListStateError(MailvetError):
    """
    ``list_state`` (409). See the ``status`` of the list, which ``status`` names here as well, and
    the page of lists.
    """


class ListTooLargeError(MailvetError):
    """
    ``list_too_large`` (413). Split the file; the message names the limit, and ``limit`` is its
    value.
    """


class BodyTooLargeError(MailvetError):
    """``body_too_large`` (413). Send one address per request."""


class UnsupportedMediaTypeError(MailvetError):
    """``unsupported_media_type`` (415). Set the header ``Content-Type: application/json``."""


class InvalidValidationTypeError(MailvetError):
    """``invalid_validation_type`` (422). Send ``mx`` or ``smtp``, or omit the field for ``mx``."""


class WebhookDisabledError(MailvetError):
    """``webhook_disabled`` (409). Enable the webhook, then replay the delivery."""


class TestInProgressError(MailvetError):
    """``test_in_progress`` (409). Wait for the reply to the last test."""


class InvalidWebhookUrlError(MailvetError):
    """
    ``invalid_webhook_url`` (422). Use an https URL whose host name has a public address; the
    message says what is wrong.
    """


class TooManyWebhooksError(MailvetError):
    """``too_many_webhooks`` (422). Delete a webhook, or let one receive several events."""


class TooManyListsError(MailvetError):
    """``too_many_lists`` (422). Delete lists whose results you have."""


class ListStorageFullError(MailvetError):
    """
    ``list_storage_full`` (422). Delete lists whose results you have, or change the plan. ``limit``
    is in bytes; ``storage`` of the usage says what is used.
    """


class TooManyFiltersError(MailvetError):
    """
    ``too_many_filters`` (422). Remove filters, or block a domain instead of its addresses; or
    change the plan. ``limit`` is the number.
    """


class TooManyMailboxesError(MailvetError):
    """
    ``too_many_mailboxes`` (422). Forget scopes that you no longer use (``DELETE /v1/seen``), or
    change the plan; or send no ``scope``. ``limit`` is the number.
    """


class SeenDisabledError(MailvetError):
    """
    ``seen_disabled`` (422). Send no ``scope``. Operators turn the memory on with
    ``MAILVET_SEEN_DAYS``.
    """


class InvalidFilterError(MailvetError):
    """
    ``invalid_filter`` (422). The message says what is wrong with the field that ``field`` names.
    """


class FilterExistsError(MailvetError):
    """``filter_exists`` (422). The filter already exists, with the id in ``existing_id``."""


class PolicyNotFoundError(MailvetError):
    """
    ``policy_not_found`` (422). Use one of the names in ``policies``, or make the policy first. Test
    mode has its own policies.
    """


class PolicyBuiltInError(MailvetError):
    """``policy_built_in`` (422). Save its rules under another name."""


class PolicyInUseError(MailvetError):
    """
    ``policy_in_use`` (422). Give the hooks that ``hooks`` names another policy, or delete them
    first.
    """


class InvalidPolicyError(MailvetError):
    """
    ``invalid_policy`` (422). The message says what is wrong with the field that ``field`` names.
    Nothing was saved.
    """


class TooManyPoliciesError(MailvetError):
    """``too_many_policies`` (422). Delete a policy that you no longer use."""


class TooManyKeysError(MailvetError):
    """
    ``too_many_keys`` (422). Revoke a key that is no longer used. A rolled key counts until its
    grace period ends.
    """


class ExternalIdTakenError(MailvetError):
    """
    ``external_id_taken`` (422). Use the account that ``account`` names, or another ``external_id``.
    """


class IdempotencyKeyReusedError(MailvetError):
    """``idempotency_key_reused`` (422). Use a new key for each different request."""


class UnreadableFileError(MailvetError):
    """
    ``unreadable_file`` (422). The message says why, and ``line`` where. Send CSV, plain text,
    NDJSON or XLSX.
    """


class NoAddressColumnError(MailvetError):
    """
    ``no_address_column`` (422). Name the column in ``column``; ``columns`` lists those of the file.
    """


class NoAddressesError(MailvetError):
    """
    ``no_addresses`` (422). See ``read`` and ``warnings`` of the list; read it in another way, or
    upload another file.
    """


class FewAddressesError(MailvetError):
    """
    ``few_addresses`` (422). See ``read`` and ``warnings`` of the list; then start it, or read it in
    another way.
    """


class RateLimitExceededError(MailvetError):
    """
    ``rate_limit_exceeded`` (429). Wait ``Retry-After`` seconds. The ``RateLimit`` headers show what
    is left.
    """


class InternalError(MailvetError):
    """
    ``internal_error`` (500). Retry. If it happens again, search the server log for the
    ``request_id``.
    """


class VerificationUnavailableError(MailvetError):
    """
    ``verification_unavailable`` (503). Retry after ``Retry-After`` seconds. Operators find the
    cause in ``/readyz``.
    """


class OverloadedError(MailvetError):
    """``overloaded`` (503). Retry after ``Retry-After`` seconds."""


BY_CODE: dict[str, type[MailvetError]] = {
    "invalid_json": InvalidJsonError,
    "missing_parameter": MissingParameterError,
    "invalid_parameter": InvalidParameterError,
    "missing_api_key": MissingApiKeyError,
    "malformed_authorization": MalformedAuthorizationError,
    "invalid_api_key": InvalidApiKeyError,
    "revoked_api_key": RevokedApiKeyError,
    "expired_api_key": ExpiredApiKeyError,
    "insufficient_credits": InsufficientCreditsError,
    "plan_upgrade_required": PlanUpgradeRequiredError,
    "key_budget_spent": KeyBudgetSpentError,
    "ip_not_allowed": IpNotAllowedError,
    "scope_missing": ScopeMissingError,
    "api_key_required": ApiKeyRequiredError,
    "operator_key_required": OperatorKeyRequiredError,
    "malformed_request": MalformedRequestError,
    "request_timeout": RequestTimeoutError,
    "headers_too_large": HeadersTooLargeError,
    "not_found": NotFoundError,
    "method_not_allowed": MethodNotAllowedError,
    "idempotency_in_progress": IdempotencyInProgressError,
    "balance_too_small": BalanceTooSmallError,
    "grant_conflict": GrantConflictError,
    "list_state": ListStateError,
    "list_too_large": ListTooLargeError,
    "body_too_large": BodyTooLargeError,
    "unsupported_media_type": UnsupportedMediaTypeError,
    "invalid_validation_type": InvalidValidationTypeError,
    "webhook_disabled": WebhookDisabledError,
    "test_in_progress": TestInProgressError,
    "invalid_webhook_url": InvalidWebhookUrlError,
    "too_many_webhooks": TooManyWebhooksError,
    "too_many_lists": TooManyListsError,
    "list_storage_full": ListStorageFullError,
    "too_many_filters": TooManyFiltersError,
    "too_many_mailboxes": TooManyMailboxesError,
    "seen_disabled": SeenDisabledError,
    "invalid_filter": InvalidFilterError,
    "filter_exists": FilterExistsError,
    "policy_not_found": PolicyNotFoundError,
    "policy_built_in": PolicyBuiltInError,
    "policy_in_use": PolicyInUseError,
    "invalid_policy": InvalidPolicyError,
    "too_many_policies": TooManyPoliciesError,
    "too_many_keys": TooManyKeysError,
    "external_id_taken": ExternalIdTakenError,
    "idempotency_key_reused": IdempotencyKeyReusedError,
    "unreadable_file": UnreadableFileError,
    "no_address_column": NoAddressColumnError,
    "no_addresses": NoAddressesError,
    "few_addresses": FewAddressesError,
    "rate_limit_exceeded": RateLimitExceededError,
    "internal_error": InternalError,
    "verification_unavailable": VerificationUnavailableError,
    "overloaded": OverloadedError,
}
