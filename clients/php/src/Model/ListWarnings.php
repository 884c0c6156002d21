<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class ListWarnings extends Reply
{
    /**
     * @var
     * 'no_address'|'few_addresses'|'other_address_columns'|'other_lists'|'several_addresses'|'encoding_guessed'|'invalid_encoding'|'uneven_rows'|'realigned_rows'|'header_repeated'|'rows_left_out'|'unknown_field'|string
     */
    public string $code;

    public string $message;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('code')) {
            $this->code = $reader->text('code');
        }
        if ($reader->has('message')) {
            $this->message = $reader->text('message');
        }
    }
}
