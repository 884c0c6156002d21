<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

/** The calendar month, UTC. */
final readonly class UsagePeriod extends Reply
{
    public string $start;

    public string $end;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('start')) {
            $this->start = $reader->text('start');
        }
        if ($reader->has('end')) {
            $this->end = $reader->text('end');
        }
    }
}
