<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Api;

use Mailvet\Model;
use Mailvet\Omitted;
use Mailvet\Transport;

/** @internal what the class of the same name has without wrapping it */
abstract class FiltersApi
{
    public function __construct(protected readonly Transport $transport)
    {
    }

    /**
     * Add a filter.
     *
     * @param string $value An address, a domain (covers its sub-domains), an IP or a CIDR; a mail host, or
     * `*.suffix`. Put in canonical form.
     * @param 'email'|'domain'|'ip_address'|'mx_host'|null $filterType Optional when the value makes it clear; a
     * mail host needs it.
     * @param string|null|Omitted $reason
     * @param 'block'|'allow'|null $action `block`: what matches is bad. `allow`: the lists, and filters that are
     * less specific, do not count. Default `block`.
     * @param 'exact'|'mailbox'|null $match `mailbox`, of an address: every spelling of its mailbox. Default
     * `exact`.
     * @param string|null|Omitted $expiresAt RFC 3339, in the future, at most 10 years ahead; null: never.
     */
    public function add(
        string $value,
        ?string $filterType = null,
        string|null|Omitted $reason = Omitted::Field,
        ?string $action = null,
        ?string $match = null,
        string|null|Omitted $expiresAt = Omitted::Field,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
    ): Model\FilterAdded {
        return new Model\FilterAdded($this->transport->send(
            'POST',
            '/v1/filters',
            body: [
                'value' => $value,
                'filter_type' => $filterType ?? Omitted::Field,
                'reason' => $reason,
                'action' => $action ?? Omitted::Field,
                'match' => $match ?? Omitted::Field,
                'expires_at' => $expiresAt,
            ],
            idempotencyKey: $idempotencyKey,
            timeout: $timeout,
        ));
    }

    /**
     * List filters, newest first.
     *
     * @param 'email'|'domain'|'ip_address'|'mx_host'|null $filterType
     * @param string|null $query Searched literally in value and reason.
     * @param int|null $page
     * @param int|null $perPage
     */
    public function list(
        ?string $filterType = null,
        ?string $query = null,
        ?int $page = null,
        ?int $perPage = null,
        ?float $timeout = null,
    ): Model\Filters {
        return new Model\Filters($this->transport->send(
            'GET',
            '/v1/filters',
            query: [
                'filter_type' => $filterType,
                'query' => $query,
                'page' => $page,
                'per_page' => $perPage,
            ],
            timeout: $timeout,
        ));
    }

    /**
     * Get a filter.
     *
     * @param int $id
     */
    public function get(
        int $id,
        ?float $timeout = null,
    ): Model\FilterDetails {
        return new Model\FilterDetails($this->transport->send(
            'GET',
            '/v1/filters/' . rawurlencode((string) $id),
            timeout: $timeout,
        ));
    }

    /**
     * Change a filter.
     *
     * @param int $id
     * @param string|null|Omitted $reason
     * @param 'block'|'allow'|null $action `block`: what matches is bad. `allow`: the lists, and filters that are
     * less specific, do not count. Default `block`.
     * @param 'exact'|'mailbox'|null $match `mailbox`, of an address: every spelling of its mailbox. Default
     * `exact`.
     * @param string|null|Omitted $expiresAt RFC 3339, in the future, at most 10 years ahead; null: never.
     */
    public function change(
        int $id,
        string|null|Omitted $reason = Omitted::Field,
        ?string $action = null,
        ?string $match = null,
        string|null|Omitted $expiresAt = Omitted::Field,
        ?float $timeout = null,
    ): Model\FilterDetails {
        return new Model\FilterDetails($this->transport->send(
            'PATCH',
            '/v1/filters/' . rawurlencode((string) $id),
            body: [
                'reason' => $reason,
                'action' => $action ?? Omitted::Field,
                'match' => $match ?? Omitted::Field,
                'expires_at' => $expiresAt,
            ],
            timeout: $timeout,
        ));
    }

    /**
     * Remove a filter.
     *
     * @param int $id
     */
    public function remove(
        int $id,
        ?float $timeout = null,
    ): Model\FilterRemoved {
        return new Model\FilterRemoved($this->transport->send(
            'DELETE',
            '/v1/filters/' . rawurlencode((string) $id),
            timeout: $timeout,
        ));
    }
}
