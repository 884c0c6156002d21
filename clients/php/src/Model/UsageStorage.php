<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class UsageStorage extends Reply
{
    /** Bytes of the rows of all lists, with 1,536 for the result of each address. */
    public UsageStorageListBytes $listBytes;

    /** Number of filters. */
    public UsageStorageFilters $filters;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('list_bytes')) {
            $this->listBytes = $reader->object('list_bytes', UsageStorageListBytes::class);
        }
        if ($reader->has('filters')) {
            $this->filters = $reader->object('filters', UsageStorageFilters::class);
        }
    }
}
