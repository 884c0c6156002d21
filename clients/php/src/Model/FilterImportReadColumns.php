<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class FilterImportReadColumns extends Reply
{
    public string $column;

    /**
     * What it holds; null: it is not used.
     *
     * @var 'filter_type'|'value'|'reason'|'action'|'match'|'expires_at'|string|null
     */
    public ?string $field;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('column')) {
            $this->column = $reader->text('column');
        }
        $this->field = $reader->has('field') ? $reader->text('field') : null;
    }
}
