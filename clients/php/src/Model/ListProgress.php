<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class ListProgress extends Reply
{
    /** Distinct addresses, as in all that follows. */
    public int $done;

    /** Deferred by their server, to be asked about again. */
    public int $waiting;

    public int $good;

    public int $bad;

    public float $percent;

    public ?float $perSecond;

    public ?int $etaSeconds;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('done')) {
            $this->done = $reader->integer('done');
        }
        if ($reader->has('waiting')) {
            $this->waiting = $reader->integer('waiting');
        }
        if ($reader->has('good')) {
            $this->good = $reader->integer('good');
        }
        if ($reader->has('bad')) {
            $this->bad = $reader->integer('bad');
        }
        if ($reader->has('percent')) {
            $this->percent = $reader->number('percent');
        }
        $this->perSecond = $reader->has('per_second') ? $reader->number('per_second') : null;
        $this->etaSeconds = $reader->has('eta_seconds') ? $reader->integer('eta_seconds') : null;
    }
}
