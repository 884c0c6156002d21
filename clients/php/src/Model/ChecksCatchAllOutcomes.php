<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

/** Of a catch-all: what became of the account's mail to its mailboxes. */
final readonly class ChecksCatchAllOutcomes extends Reply
{
    public int $delivered;

    public int $bounced;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('delivered')) {
            $this->delivered = $reader->integer('delivered');
        }
        if ($reader->has('bounced')) {
            $this->bounced = $reader->integer('bounced');
        }
    }
}
