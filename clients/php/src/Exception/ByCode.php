<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

/** @internal */
final class ByCode
{
    /** @var array<string, class-string<\Mailvet\MailvetException>> */
    public const CLASSES = [
        'invalid_json' => InvalidJsonException::class,
        'missing_parameter' => MissingParameterException::class,
        'invalid_parameter' => InvalidParameterException::class,
        'missing_api_key' => MissingApiKeyException::class,
        'malformed_authorization' => MalformedAuthorizationException::class,
        'invalid_api_key' => InvalidApiKeyException::class,
        'revoked_api_key' => RevokedApiKeyException::class,
        'expired_api_key' => ExpiredApiKeyException::class,
        'insufficient_credits' => InsufficientCreditsException::class,
        'plan_upgrade_required' => PlanUpgradeRequiredException::class,
        'key_budget_spent' => KeyBudgetSpentException::class,
        'ip_not_allowed' => IpNotAllowedException::class,
        'scope_missing' => ScopeMissingException::class,
        'api_key_required' => ApiKeyRequiredException::class,
        'operator_key_required' => OperatorKeyRequiredException::class,
        'malformed_request' => MalformedRequestException::class,
        'request_timeout' => RequestTimeoutException::class,
        'headers_too_large' => HeadersTooLargeException::class,
        'not_found' => NotFoundException::class,
        'method_not_allowed' => MethodNotAllowedException::class,
        'idempotency_in_progress' => IdempotencyInProgressException::class,
        'balance_too_small' => BalanceTooSmallException::class,
        'grant_conflict' => GrantConflictException::class,
        'list_state' => ListStateException::class,
        'list_too_large' => ListTooLargeException::class,
        'body_too_large' => BodyTooLargeException::class,
        'unsupported_media_type' => UnsupportedMediaTypeException::class,
        'invalid_validation_type' => InvalidValidationTypeException::class,
        'webhook_disabled' => WebhookDisabledException::class,
        'test_in_progress' => TestInProgressException::class,
        'invalid_webhook_url' => InvalidWebhookUrlException::class,
        'too_many_webhooks' => TooManyWebhooksException::class,
        'too_many_lists' => TooManyListsException::class,
        'list_storage_full' => ListStorageFullException::class,
        'too_many_filters' => TooManyFiltersException::class,
        'too_many_mailboxes' => TooManyMailboxesException::class,
        'seen_disabled' => SeenDisabledException::class,
        'invalid_filter' => InvalidFilterException::class,
        'filter_exists' => FilterExistsException::class,
        'policy_not_found' => PolicyNotFoundException::class,
        'policy_built_in' => PolicyBuiltInException::class,
        'policy_in_use' => PolicyInUseException::class,
        'invalid_policy' => InvalidPolicyException::class,
        'too_many_policies' => TooManyPoliciesException::class,
        'too_many_keys' => TooManyKeysException::class,
        'external_id_taken' => ExternalIdTakenException::class,
        'idempotency_key_reused' => IdempotencyKeyReusedException::class,
        'unreadable_file' => UnreadableFileException::class,
        'no_address_column' => NoAddressColumnException::class,
        'no_addresses' => NoAddressesException::class,
        'few_addresses' => FewAddressesException::class,
        'rate_limit_exceeded' => RateLimitExceededException::class,
        'internal_error' => InternalErrorException::class,
        'verification_unavailable' => VerificationUnavailableException::class,
        'overloaded' => OverloadedException::class,
        'unreachable' => UnreachableException::class,
        'timeout' => TimeoutException::class,
        'redirected' => RedirectedException::class,
        'reply_too_large' => ReplyTooLargeException::class,
        'unexpected_reply' => UnexpectedReplyException::class,
    ];
}
