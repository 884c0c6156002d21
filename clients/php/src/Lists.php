<?php

declare(strict_types=1);

namespace Mailvet;

use Mailvet\Api\ListsApi;
use Mailvet\Model\AddressList;
use Mailvet\Model\ListRow;
use Mailvet\Model\ListRows;

/** See `Client::$lists`. */
final class Lists extends ListsApi
{
    /** Of one page: the service's maximum. */
    private const ROWS_PER_PAGE = 1000;

    /**
     * Uploads a list and starts it. A file is sent as it is read, without a time limit unless `timeout` is given. What
     * prevents the start, such as too few credits, is the list's `error`.
     *
     * @param list<string>|Upload|string $source addresses, or a file: a string is its path
     * @param bool|null $start false leaves the list `ready`, so that its price can be seen first
     * @param 'mx'|'smtp'|null $validationType
     * @param array<string, scalar> $options further ones, such as `['column' => 'Email', 'dedupe' => 'mailbox']`
     */
    public function create(
        array|Upload|string $source,
        ?string $name = null,
        ?string $validationType = null,
        ?bool $start = null,
        ?string $policy = null,
        array $options = [],
        ?string $idempotencyKey = null,
        ?float $timeout = null,
    ): AddressList {
        $given = [
            'name' => $name,
            'validation_type' => $validationType,
            'start' => $start,
            'policy' => $policy,
            ...$options,
        ];
        $fields = array_filter($given, static fn (mixed $value): bool => $value !== null);
        $call = ['idempotencyKey' => $idempotencyKey, 'timeout' => $timeout];
        if (is_array($source)) {
            return new AddressList($this->transport->send('POST', '/v1/lists', ...[
                ...$call,
                'body' => ['emails' => array_values($source), ...$fields],
            ]));
        }
        $upload = is_string($source) ? Upload::fromPath($source) : $source;
        return new AddressList($this->transport->send('POST', '/v1/lists', ...[
            ...$call,
            'query' => ['name' => $upload->name, ...$fields],
            'upload' => $upload,
        ]));
    }

    /**
     * Returns when the list is neither running nor paused.
     *
     * @param (callable(AddressList): void)|null $onProgress called each time the list was looked at
     * @param float $interval seconds between looks
     */
    public function wait(
        string $id,
        ?callable $onProgress = null,
        float $interval = 2.0,
        ?float $timeout = null,
    ): AddressList {
        for (;;) {
            $list = $this->get($id, $timeout);
            if ($onProgress !== null) {
                $onProgress($list);
            }
            if (!in_array($list->status, ['running', 'paused'], true)) {
                return $list;
            }
            usleep((int) ($interval * 1_000_000));
        }
    }

    /**
     * Every row, or those that match, in the order of the file, fetched page by page.
     *
     * @return \Generator<int, ListRow>
     */
    public function rows(
        string $id,
        ?string $status = null,
        ?string $deliverability = null,
        ?string $reason = null,
        ?string $query = null,
        ?float $timeout = null,
    ): \Generator {
        $filter = compact('status', 'deliverability', 'reason', 'query');
        for ($after = 0; $after !== null;) {
            $page = new ListRows($this->transport->send(
                'GET',
                '/v1/lists/' . rawurlencode($id) . '/rows',
                query: ['limit' => self::ROWS_PER_PAGE, ...$filter, 'after' => $after],
                timeout: $timeout,
            ));
            yield from $page->rows;
            // A proxy that always sends the same page would be asked without end.
            if ($page->next !== null && $page->next <= $after) {
                throw Transport::foreign(200);
            }
            $after = $page->next;
        }
    }

    /**
     * The file with the results, also while the list runs.
     *
     * @param 'csv'|'xlsx'|'jsonl'|null $format
     * @param resource|null $to where to write it
     * @param array<string, scalar> $options further ones, such as `['delimiter' => 'semicolon']`
     * @return resource `to`, or a temporary file that stands at its beginning
     */
    public function results(
        string $id,
        ?string $format = null,
        ?string $status = null,
        ?string $deliverability = null,
        mixed $to = null,
        array $options = [],
        ?float $timeout = null,
    ): mixed {
        $query = [...compact('format', 'status', 'deliverability'), ...$options];
        return $this->transport->download('/v1/lists/' . rawurlencode($id) . '/results', $query, $to, $timeout);
    }
}
