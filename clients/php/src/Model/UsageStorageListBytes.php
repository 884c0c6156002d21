<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

/** Bytes of the rows of all lists, with 1,536 for the result of each address. */
final readonly class UsageStorageListBytes extends Reply
{
    public int $used;

    /** Of the plan. */
    public int $limit;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('used')) {
            $this->used = $reader->integer('used');
        }
        if ($reader->has('limit')) {
            $this->limit = $reader->integer('limit');
        }
    }
}
