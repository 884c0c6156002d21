<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class FilterImport extends Reply
{
    public bool $dryRun;

    /** Those that are not blank. */
    public int $rows;

    /** Filters that were added, or would be. */
    public int $added;

    /** Those that there are already, or that an earlier row has. */
    public int $existing;

    /** Those that cannot be used, and change nothing. */
    public int $invalid;

    /**
     * Of the first 1,000 rows that cannot be used.
     *
     * @var list<FilterImportErrors>
     */
    public array $errors;

    /**
     * The first 20 that can be used, as they were read.
     *
     * @var list<FilterImportFilters>
     */
    public array $filters;

    /** How the file was read. */
    public FilterImportRead $read;

    /**
     * About the file, and what the request has that is unknown.
     *
     * @var list<string>
     */
    public array $warnings;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('dry_run')) {
            $this->dryRun = $reader->boolean('dry_run');
        }
        if ($reader->has('rows')) {
            $this->rows = $reader->integer('rows');
        }
        if ($reader->has('added')) {
            $this->added = $reader->integer('added');
        }
        if ($reader->has('existing')) {
            $this->existing = $reader->integer('existing');
        }
        if ($reader->has('invalid')) {
            $this->invalid = $reader->integer('invalid');
        }
        if ($reader->has('errors')) {
            $this->errors = $reader->objects('errors', FilterImportErrors::class);
        }
        if ($reader->has('filters')) {
            $this->filters = $reader->objects('filters', FilterImportFilters::class);
        }
        if ($reader->has('read')) {
            $this->read = $reader->object('read', FilterImportRead::class);
        }
        if ($reader->has('warnings')) {
            $this->warnings = $reader->texts('warnings');
        }
    }
}
