<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Api;

use Mailvet\Model;
use Mailvet\Omitted;
use Mailvet\Transport;

/** @internal what the class of the same name has without wrapping it */
abstract class ListsApi
{
    public function __construct(protected readonly Transport $transport)
    {
    }

    /**
     * Lists, newest first.
     *
     * @param 'ready'|'running'|'paused'|'completed'|'cancelled'|'failed'|null $status
     * @param string|null $query Searched literally in the name.
     * @param int|null $page
     * @param int|null $perPage
     */
    public function list(
        ?string $status = null,
        ?string $query = null,
        ?int $page = null,
        ?int $perPage = null,
        ?float $timeout = null,
    ): Model\Lists {
        return new Model\Lists($this->transport->send(
            'GET',
            '/v1/lists',
            query: [
                'status' => $status,
                'query' => $query,
                'page' => $page,
                'per_page' => $perPage,
            ],
            timeout: $timeout,
        ));
    }

    /**
     * A list with its progress.
     *
     * @param string $id
     */
    public function get(
        string $id,
        ?float $timeout = null,
    ): Model\AddressList {
        return new Model\AddressList($this->transport->send(
            'GET',
            '/v1/lists/' . rawurlencode((string) $id),
            timeout: $timeout,
        ));
    }

    /**
     * Read the file of a list that is not started in another way.
     *
     * @param string $id
     * @param 'address'|'mailbox'|null $dedupe Which rows count as duplicates, and are verified and charged once:
     * `address` (the default), those of the same address; `mailbox`, also those of one mailbox in other spellings,
     * where its provider documents them, such as `J.Doe+x@gmail.com` and `jdoe@googlemail.com`.
     * @param array<string, mixed>|null $read As in the upload; what is null or left out in it is detected.
     */
    public function update(
        string $id,
        ?string $dedupe = null,
        ?array $read = null,
        ?float $timeout = null,
    ): Model\AddressList {
        return new Model\AddressList($this->transport->send(
            'PATCH',
            '/v1/lists/' . rawurlencode((string) $id),
            body: [
                'dedupe' => $dedupe ?? Omitted::Field,
                'read' => $read === null ? Omitted::Field : (object) $read,
            ],
            timeout: $timeout,
        ));
    }

    /**
     * Erase a list with its rows and results.
     *
     * @param string $id
     */
    public function remove(
        string $id,
        ?float $timeout = null,
    ): Model\ListRemoved {
        return new Model\ListRemoved($this->transport->send(
            'DELETE',
            '/v1/lists/' . rawurlencode((string) $id),
            timeout: $timeout,
        ));
    }

    /**
     * Hold the price of a list and begin to verify it.
     *
     * @param string $id
     */
    public function start(
        string $id,
        ?float $timeout = null,
    ): Model\AddressList {
        return new Model\AddressList($this->transport->send(
            'POST',
            '/v1/lists/' . rawurlencode((string) $id) . '/start',
            timeout: $timeout,
        ));
    }

    /**
     * Pause a list.
     *
     * @param string $id
     */
    public function pause(
        string $id,
        ?float $timeout = null,
    ): Model\AddressList {
        return new Model\AddressList($this->transport->send(
            'POST',
            '/v1/lists/' . rawurlencode((string) $id) . '/pause',
            timeout: $timeout,
        ));
    }

    /**
     * Resume a paused list.
     *
     * @param string $id
     */
    public function resume(
        string $id,
        ?float $timeout = null,
    ): Model\AddressList {
        return new Model\AddressList($this->transport->send(
            'POST',
            '/v1/lists/' . rawurlencode((string) $id) . '/resume',
            timeout: $timeout,
        ));
    }

    /**
     * Cancel a list and release what is held for it.
     *
     * @param string $id
     */
    public function cancel(
        string $id,
        ?float $timeout = null,
    ): Model\AddressList {
        return new Model\AddressList($this->transport->send(
            'POST',
            '/v1/lists/' . rawurlencode((string) $id) . '/cancel',
            timeout: $timeout,
        ));
    }
}
