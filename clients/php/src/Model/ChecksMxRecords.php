<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class ChecksMxRecords extends Reply
{
    public string $host;

    public int $priority;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('host')) {
            $this->host = $reader->text('host');
        }
        if ($reader->has('priority')) {
            $this->priority = $reader->integer('priority');
        }
    }
}
