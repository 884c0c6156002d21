<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class FilterImportErrors extends Reply
{
    /** Line of the text, or row of the sheet. */
    public int $row;

    /** The row, shortened. */
    public string $text;

    /** What is wrong; null: the row as a whole. */
    public ?string $field;

    /** One sentence that names the remedy. */
    public string $error;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('row')) {
            $this->row = $reader->integer('row');
        }
        if ($reader->has('text')) {
            $this->text = $reader->text('text');
        }
        $this->field = $reader->has('field') ? $reader->text('field') : null;
        if ($reader->has('error')) {
            $this->error = $reader->text('error');
        }
    }
}
