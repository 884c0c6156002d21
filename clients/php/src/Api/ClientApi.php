<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Api;

use Mailvet\Model;
use Mailvet\Omitted;
use Mailvet\Transport;

/** @internal what the class of the same name has without wrapping it */
abstract class ClientApi
{
    public function __construct(protected readonly Transport $transport)
    {
    }

    /**
     * Verify one address. A malformed or dead address is a verdict (200), not an error.
     *
     * @param string $email The address to check; white space around it does not count. A malformed address is not a
     * bad request: its verdict is `bad`.
     * @param bool|null $evidence `1` adds the evidence: mail hosts and the SMTP transcript.
     * @param 'mx'|'smtp'|null $validationType `mx`: syntax, domain, mail-server records, disposable list. `smtp`:
     * also asks the mail server whether the mailbox exists. By default as the policy says, or `mx`.
     * @param string|null $clientIp The end user's IP, which `ip_address` filters match; the caller's own by
     * default.
     * @param int|null $timeoutMs Time budget of the whole check, in milliseconds. What is not known by then is
     * reported as unknown. By default as the policy says, or 10000.
     * @param string|null $scope Your name for a place where a mailbox may count once, such as `signup`: the mailbox
     * is remembered there, and `seen` of the reply says whether it was before.
     * @param string|null $policy Name of the policy that decides: one of the account, or `signup` or `strict`,
     * which every account has.
     * @param string|null $language Of the decision's message: a language tag such as `de-CH`, or the value of the
     * user's Accept-Language header.
     */
    public function verify(
        string $email,
        ?bool $evidence = null,
        ?string $validationType = null,
        ?string $clientIp = null,
        ?int $timeoutMs = null,
        ?string $scope = null,
        ?string $policy = null,
        ?string $language = null,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
    ): Model\Verification {
        return new Model\Verification($this->transport->send(
            'POST',
            '/v1/verify',
            query: [
                'evidence' => $evidence === null ? null : (int) $evidence,
            ],
            body: [
                'email' => $email,
                'validation_type' => $validationType ?? Omitted::Field,
                'client_ip' => $clientIp ?? Omitted::Field,
                'timeout_ms' => $timeoutMs ?? Omitted::Field,
                'scope' => $scope ?? Omitted::Field,
                'policy' => $policy ?? Omitted::Field,
                'language' => $language ?? Omitted::Field,
            ],
            idempotencyKey: $idempotencyKey,
            timeout: $timeout,
            replyField: 'deliverability',
        ));
    }

    /**
     * Plan, credit balance, rate limits.
     *
     * @param 'day'|'key'|'reason'|'validation_type'|null $groupBy Adds `series`, one row per group.
     * @param string|null $from Start of the series, RFC 3339; by default the period’s.
     * @param string|null $to End of the series (exclusive), RFC 3339.
     */
    public function usage(
        ?string $groupBy = null,
        ?string $from = null,
        ?string $to = null,
        ?float $timeout = null,
    ): Model\Usage {
        return new Model\Usage($this->transport->send(
            'GET',
            '/v1/usage',
            query: [
                'group_by' => $groupBy,
                'from' => $from,
                'to' => $to,
            ],
            timeout: $timeout,
        ));
    }

    /** How often verdicts were right. From sums that are kept, however many outcomes there are. */
    public function calibration(
        ?float $timeout = null,
    ): Model\Calibration {
        return new Model\Calibration($this->transport->send(
            'GET',
            '/v1/calibration',
            timeout: $timeout,
        ));
    }
}
