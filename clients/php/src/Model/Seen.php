<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

/** What is remembered of the mailbox in the `scope` of the request; null without one, and for a malformed address. */
final readonly class Seen extends Reply
{
    /** Whether the mailbox was seen in this scope before, in any spelling. */
    public bool $before;

    /** How often it was seen, this time included. */
    public int $count;

    /** When it was seen first. */
    public string $firstAt;

    /** Whether its address is spelled as it was then; false the first time. */
    public bool $sameSpelling;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('before')) {
            $this->before = $reader->boolean('before');
        }
        if ($reader->has('count')) {
            $this->count = $reader->integer('count');
        }
        if ($reader->has('first_at')) {
            $this->firstAt = $reader->text('first_at');
        }
        if ($reader->has('same_spelling')) {
            $this->sameSpelling = $reader->boolean('same_spelling');
        }
    }
}
