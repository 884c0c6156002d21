<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class RowsOfList extends Reply
{
    /** Rows of the file; one may have several addresses. */
    public int $total;

    /** Distinct ones, or those of distinct mailboxes: each is verified and charged once. */
    public int $addresses;

    /** Further addresses that are the same as an earlier one, or of its mailbox. */
    public int $duplicates;

    /** Rows without an address. */
    public int $blank;

    /** Rows that are broken, such as by a quote that is not closed. */
    public int $unreadable;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('total')) {
            $this->total = $reader->integer('total');
        }
        if ($reader->has('addresses')) {
            $this->addresses = $reader->integer('addresses');
        }
        if ($reader->has('duplicates')) {
            $this->duplicates = $reader->integer('duplicates');
        }
        if ($reader->has('blank')) {
            $this->blank = $reader->integer('blank');
        }
        if ($reader->has('unreadable')) {
            $this->unreadable = $reader->integer('unreadable');
        }
    }
}
