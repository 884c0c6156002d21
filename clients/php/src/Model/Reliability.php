<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class Reliability extends Reply
{
    /** Of the confidence that replies had. */
    public float $from;

    public float $to;

    /** Verdicts with an outcome. */
    public int $sent;

    /** Their confidence on the average. */
    public float $predicted;

    /** The share whose mail did not bounce; null with fewer than 50. */
    public ?float $delivered;

    /** Of its 95 % interval; null with fewer than 50. */
    public ?float $low;

    /** Of its 95 % interval; null with fewer than 50. */
    public ?float $high;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('from')) {
            $this->from = $reader->number('from');
        }
        if ($reader->has('to')) {
            $this->to = $reader->number('to');
        }
        if ($reader->has('sent')) {
            $this->sent = $reader->integer('sent');
        }
        if ($reader->has('predicted')) {
            $this->predicted = $reader->number('predicted');
        }
        $this->delivered = $reader->has('delivered') ? $reader->number('delivered') : null;
        $this->low = $reader->has('low') ? $reader->number('low') : null;
        $this->high = $reader->has('high') ? $reader->number('high') : null;
    }
}
