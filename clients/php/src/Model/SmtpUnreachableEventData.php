<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class SmtpUnreachableEventData extends Reply
{
    /** @var 'port_closed'|'refused_everywhere'|string */
    public string $state;

    public string $since;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('state')) {
            $this->state = $reader->text('state');
        }
        if ($reader->has('since')) {
            $this->since = $reader->text('since');
        }
    }
}
