<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

/**
 * For the person who entered the address: by signal, then by language, at most 20 of 200 characters each. The first
 * language is for all that have none.
 */
final readonly class PolicyMessages extends Reply
{
    /** @var array<string, string>|null */
    public ?array $undeliverable;

    /** @var array<string, string>|null */
    public ?array $disposable;

    /** @var array<string, string>|null */
    public ?array $relay;

    /** @var array<string, string>|null */
    public ?array $role;

    /** @var array<string, string>|null */
    public ?array $free;

    /** @var array<string, string>|null */
    public ?array $catchAll;

    /** @var array<string, string>|null */
    public ?array $unknown;

    /** @var array<string, string>|null */
    public ?array $full;

    /** @var array<string, string>|null */
    public ?array $typo;

    /** @var array<string, string>|null */
    public ?array $tag;

    /** @var array<string, string>|null */
    public ?array $seenBefore;

    /** @var array<string, string>|null */
    public ?array $outage;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        $this->undeliverable = $reader->has('undeliverable') ? $reader->textsByName('undeliverable') : null;
        $this->disposable = $reader->has('disposable') ? $reader->textsByName('disposable') : null;
        $this->relay = $reader->has('relay') ? $reader->textsByName('relay') : null;
        $this->role = $reader->has('role') ? $reader->textsByName('role') : null;
        $this->free = $reader->has('free') ? $reader->textsByName('free') : null;
        $this->catchAll = $reader->has('catch_all') ? $reader->textsByName('catch_all') : null;
        $this->unknown = $reader->has('unknown') ? $reader->textsByName('unknown') : null;
        $this->full = $reader->has('full') ? $reader->textsByName('full') : null;
        $this->typo = $reader->has('typo') ? $reader->textsByName('typo') : null;
        $this->tag = $reader->has('tag') ? $reader->textsByName('tag') : null;
        $this->seenBefore = $reader->has('seen_before') ? $reader->textsByName('seen_before') : null;
        $this->outage = $reader->has('outage') ? $reader->textsByName('outage') : null;
    }
}
