<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class RejectionsHighEventData extends Reply
{
    /** Since then. */
    public int $rejected;

    /** In as long a time, on average of the week before. */
    public int $usual;

    public string $since;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('rejected')) {
            $this->rejected = $reader->integer('rejected');
        }
        if ($reader->has('usual')) {
            $this->usual = $reader->integer('usual');
        }
        if ($reader->has('since')) {
            $this->since = $reader->text('since');
        }
    }
}
