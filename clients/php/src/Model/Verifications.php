<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class Verifications extends Reply
{
    /** @var list<LogEntry> */
    public array $verifications;

    /** The `cursor` of the next page; null: there is none. */
    public ?string $next;

    /** How far back this page looked; null: to the end. A page may have fewer rows than `limit`, or none. */
    public ?string $searchedTo;

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
        if ($reader->has('verifications')) {
            $this->verifications = $reader->objects('verifications', LogEntry::class);
        }
        $this->next = $reader->has('next') ? $reader->text('next') : null;
        $this->searchedTo = $reader->has('searched_to') ? $reader->text('searched_to') : null;
        if ($reader->has('warnings')) {
            $this->warnings = $reader->texts('warnings');
        }
    }
}
