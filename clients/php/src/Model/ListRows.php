<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class ListRows extends Reply
{
    /** @var list<ListRow> */
    public array $rows;

    /**
     * `after` of the next page; null at the end. A page that searches may have fewer rows than its limit of up to
     * 1,000.
     */
    public ?int $next;

    /**
     * What the request has that is unknown, or changes nothing.
     *
     * @var list<string>
     */
    public array $warnings;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('rows')) {
            $this->rows = $reader->objects('rows', ListRow::class);
        }
        $this->next = $reader->has('next') ? $reader->integer('next') : null;
        if ($reader->has('warnings')) {
            $this->warnings = $reader->texts('warnings');
        }
    }
}
