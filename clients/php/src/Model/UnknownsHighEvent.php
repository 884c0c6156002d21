<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class UnknownsHighEvent extends Reply
{
    /** @var 'unknowns.high'|string */
    public string $type;

    public string $timestamp;

    public UnknownsHighEventData $data;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('type')) {
            $this->type = $reader->text('type');
        }
        if ($reader->has('timestamp')) {
            $this->timestamp = $reader->text('timestamp');
        }
        if ($reader->has('data')) {
            $this->data = $reader->object('data', UnknownsHighEventData::class);
        }
    }
}
