<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class EvidenceUnusableHosts extends Reply
{
    public string $host;

    public string $why;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('host')) {
            $this->host = $reader->text('host');
        }
        if ($reader->has('why')) {
            $this->why = $reader->text('why');
        }
    }
}
