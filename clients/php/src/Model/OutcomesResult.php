<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class OutcomesResult extends Reply
{
    /**
     * One for each row, in their order.
     *
     * @var list<OutcomeResult>
     */
    public array $results;

    /** Rows that were recorded. */
    public int $recorded;

    /** Rows that had been reported before. */
    public int $duplicates;

    /** Rows with an error. */
    public int $errors;

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
        if ($reader->has('results')) {
            $this->results = $reader->objects('results', OutcomeResult::class);
        }
        if ($reader->has('recorded')) {
            $this->recorded = $reader->integer('recorded');
        }
        if ($reader->has('duplicates')) {
            $this->duplicates = $reader->integer('duplicates');
        }
        if ($reader->has('errors')) {
            $this->errors = $reader->integer('errors');
        }
        if ($reader->has('warnings')) {
            $this->warnings = $reader->texts('warnings');
        }
    }
}
