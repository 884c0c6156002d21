<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class ListReadAddressesPerRow extends Reply
{
    public ?int $max;

    public ?int $rowsWithSeveral;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        $this->max = $reader->has('max') ? $reader->integer('max') : null;
        $this->rowsWithSeveral = $reader->has('rows_with_several') ? $reader->integer('rows_with_several') : null;
    }
}
