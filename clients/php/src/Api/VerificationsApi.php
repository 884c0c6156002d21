<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Api;

use Mailvet\Model;
use Mailvet\Omitted;
use Mailvet\Transport;

/** @internal what the class of the same name has without wrapping it */
abstract class VerificationsApi
{
    public function __construct(protected readonly Transport $transport)
    {
    }

    /**
     * Search verifications, newest first.
     *
     * @param string|null $email An address or its beginning, without regard to case.
     * @param string|null $query An ID, an address or its beginning, or any part of one, such as a domain. Without
     * regard to case.
     * @param string|null $level The level that was asked for; what was charged may be mx where it was smtp. `mx`,
     * `smtp`; several are separated by commas, and any of them matches.
     * @param string|null $reason A reason of the page of verdicts; `none`: without a reason. `none`,
     * `blocked_by_filter`, `bounced_before`, `invalid_format`, `disposable_domain`, `domain_not_found`,
     * `no_mx_records`, `null_mx`, `mx_unusable`, `dns_failure`, `catch_all`, `mailbox_not_found`, `mailbox_full`,
     * `mailbox_disabled`, `relay_denied`, `greylisted`, `smtp_temporary_failure`, `smtp_timeout`,
     * `smtp_unreachable`, `smtp_blocked`, `smtp_unverifiable`; several are separated by commas, and any of them
     * matches.
     * @param string|null $deliverability `not_checked`: unknown because the mailbox was not asked about (level mx).
     * `unknown`: the others. `deliverable`, `not_checked`, `unknown`, `risky`, `undeliverable`; several are
     * separated by commas, and any of them matches.
     * @param string|null $decision What the policy of the request said. `accept`, `review`, `reject`; several are
     * separated by commas, and any of them matches.
     * @param string|null $since
     * @param string|null $until
     * @param string|null $cursor `next` of the page before.
     * @param int|null $limit
     */
    public function list(
        ?string $email = null,
        ?string $query = null,
        ?string $level = null,
        ?string $reason = null,
        ?string $deliverability = null,
        ?string $decision = null,
        ?string $since = null,
        ?string $until = null,
        ?string $cursor = null,
        ?int $limit = null,
        ?float $timeout = null,
    ): Model\Verifications {
        return new Model\Verifications($this->transport->send(
            'GET',
            '/v1/verifications',
            query: [
                'email' => $email,
                'query' => $query,
                'level' => $level,
                'reason' => $reason,
                'deliverability' => $deliverability,
                'decision' => $decision,
                'since' => $since,
                'until' => $until,
                'cursor' => $cursor,
                'limit' => $limit,
            ],
            timeout: $timeout,
        ));
    }

    /**
     * Get a verification.
     *
     * @param string $id
     */
    public function get(
        string $id,
        ?float $timeout = null,
    ): Model\Verification {
        return new Model\Verification($this->transport->send(
            'GET',
            '/v1/verifications/' . rawurlencode((string) $id),
            timeout: $timeout,
        ));
    }
}
