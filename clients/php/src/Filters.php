<?php

declare(strict_types=1);

namespace Mailvet;

use Mailvet\Api\FiltersApi;
use Mailvet\Model\Filter;
use Mailvet\Model\FilterImport;

/** See `Client::$filters`. */
final class Filters extends FiltersApi
{
    /** The service's maximum. */
    private const PER_PAGE = 100;

    /**
     * Every matching filter once, newest first, fetched page by page. Collect them before removing any: a removal
     * shifts the pages after it.
     *
     * @return \Generator<int, Filter>
     */
    public function all(
        ?string $filterType = null,
        ?string $query = null,
        int $perPage = self::PER_PAGE,
        ?float $timeout = null,
    ): \Generator {
        $last = PHP_INT_MAX;
        for ($page = 1;; $page += 1) {
            $found = $this->list($filterType, $query, $page, $perPage, $timeout);
            foreach ($found->filters as $filter) {
                // A filter added in the meantime shifts others to the next page, where they appear again.
                if ($filter->id < $last) {
                    $last = $filter->id;
                    yield $filter;
                }
            }
            if ($found->filters === [] || $page >= $found->pagination->totalPages) {
                return;
            }
        }
    }

    /**
     * Adds the filters of a file, which is sent as it is read, without a time limit unless `timeout` is given. Rows
     * that cannot be used are its `errors`, and change nothing.
     *
     * @param Upload|string $source a string is the path of a file
     * @param bool $dryRun changes nothing: the reply says what would be
     * @param array<string, scalar> $read how to read the file, such as `['column' => 'Domain']`
     */
    public function import(
        Upload|string $source,
        bool $dryRun = false,
        array $read = [],
        ?float $timeout = null,
    ): FilterImport {
        return new FilterImport($this->transport->send(
            'POST',
            '/v1/filters/import',
            query: [...$read, 'dry_run' => $dryRun ? true : null],
            upload: is_string($source) ? Upload::fromPath($source) : $source,
            timeout: $timeout,
        ));
    }

    /**
     * All filters as CSV.
     *
     * @param resource|null $to where to write them
     * @return resource `to`, or a temporary file that stands at its beginning
     */
    public function export(mixed $to = null, ?float $timeout = null): mixed
    {
        return $this->transport->download('/v1/filters/export', to: $to, timeout: $timeout);
    }
}
