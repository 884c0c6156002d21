<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class PrivacyErased extends Reply
{
    /** The sum of `tables`. */
    public int $erased;

    /**
     * Rows by table that were deleted, or have a hash in place of the address.
     *
     * @var array<string, int>
     */
    public array $tables;

    /**
     * Rows by table that still mention the address: filters, settings, and what is kept of users of the dashboard.
     *
     * @var array<string, int>
     */
    public array $kept;

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
        if ($reader->has('erased')) {
            $this->erased = $reader->integer('erased');
        }
        if ($reader->has('tables')) {
            $this->tables = $reader->integersByName('tables');
        }
        if ($reader->has('kept')) {
            $this->kept = $reader->integersByName('kept');
        }
        if ($reader->has('warnings')) {
            $this->warnings = $reader->texts('warnings');
        }
    }
}
