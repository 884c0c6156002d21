<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class CreditsExhaustedEventDataAccount extends Reply
{
    public string $id;

    public string $name;

    public ?string $externalId;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('id')) {
            $this->id = $reader->text('id');
        }
        if ($reader->has('name')) {
            $this->name = $reader->text('name');
        }
        $this->externalId = $reader->has('external_id') ? $reader->text('external_id') : null;
    }
}
