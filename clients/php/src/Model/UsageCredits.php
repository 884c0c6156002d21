<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class UsageCredits extends Reply
{
    /** What the account holds: `remaining` and `locked` together. */
    public int $total;

    /** Held by checks that are still running. */
    public int $locked;

    /** Charged in the calendar month, UTC. */
    public int $used;

    /** What can still be spent. */
    public int $remaining;

    /** Whether the plan gives as many credits as are needed: the numbers are then very large. */
    public bool $unlimited;

    /** What is left of the month’s allowance, out of `total`. It is spent before what was purchased. */
    public int $allowance;

    /** The rest of `total`, which does not end with the month. */
    public int $purchased;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('total')) {
            $this->total = $reader->integer('total');
        }
        if ($reader->has('locked')) {
            $this->locked = $reader->integer('locked');
        }
        if ($reader->has('used')) {
            $this->used = $reader->integer('used');
        }
        if ($reader->has('remaining')) {
            $this->remaining = $reader->integer('remaining');
        }
        if ($reader->has('unlimited')) {
            $this->unlimited = $reader->boolean('unlimited');
        }
        if ($reader->has('allowance')) {
            $this->allowance = $reader->integer('allowance');
        }
        if ($reader->has('purchased')) {
            $this->purchased = $reader->integer('purchased');
        }
    }
}
