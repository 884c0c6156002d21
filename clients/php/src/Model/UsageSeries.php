<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class UsageSeries extends Reply
{
    public string $group;

    public int $requests;

    public int $good;

    public int $bad;

    public int $credits;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('group')) {
            $this->group = $reader->text('group');
        }
        if ($reader->has('requests')) {
            $this->requests = $reader->integer('requests');
        }
        if ($reader->has('good')) {
            $this->good = $reader->integer('good');
        }
        if ($reader->has('bad')) {
            $this->bad = $reader->integer('bad');
        }
        if ($reader->has('credits')) {
            $this->credits = $reader->integer('credits');
        }
    }
}
