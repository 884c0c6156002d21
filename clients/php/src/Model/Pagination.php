<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class Pagination extends Reply
{
    public int $currentPage;

    public int $perPage;

    public int $totalPages;

    public int $totalCount;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('current_page')) {
            $this->currentPage = $reader->integer('current_page');
        }
        if ($reader->has('per_page')) {
            $this->perPage = $reader->integer('per_page');
        }
        if ($reader->has('total_pages')) {
            $this->totalPages = $reader->integer('total_pages');
        }
        if ($reader->has('total_count')) {
            $this->totalCount = $reader->integer('total_count');
        }
    }
}
