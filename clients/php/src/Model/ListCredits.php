<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class ListCredits extends Reply
{
    /** What is held at the start: the most that the list can cost. */
    public int $price;

    public int $held;

    public int $used;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('price')) {
            $this->price = $reader->integer('price');
        }
        if ($reader->has('held')) {
            $this->held = $reader->integer('held');
        }
        if ($reader->has('used')) {
            $this->used = $reader->integer('used');
        }
    }
}
