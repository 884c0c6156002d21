<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class ListDeliverability extends Reply
{
    public int $deliverable;

    public int $undeliverable;

    public int $risky;

    public int $unknown;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('deliverable')) {
            $this->deliverable = $reader->integer('deliverable');
        }
        if ($reader->has('undeliverable')) {
            $this->undeliverable = $reader->integer('undeliverable');
        }
        if ($reader->has('risky')) {
            $this->risky = $reader->integer('risky');
        }
        if ($reader->has('unknown')) {
            $this->unknown = $reader->integer('unknown');
        }
    }
}
