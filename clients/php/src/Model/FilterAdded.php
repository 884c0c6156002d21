<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class FilterAdded extends Reply
{
    /** Counted within the account. */
    public int $id;

    /** @var 'email'|'domain'|'ip_address'|'mx_host'|string */
    public string $filterType;

    /** In canonical form. */
    public string $value;

    public ?string $reason;

    /**
     * `block`: what matches is bad. `allow`: the lists, and filters that are less specific, do not count.
     *
     * @var 'block'|'allow'|string
     */
    public string $action;

    /**
     * `mailbox`, of an address: every spelling of its mailbox.
     *
     * @var 'exact'|'mailbox'|string
     */
    public string $match;

    /** From then on it matches nothing. */
    public ?string $expiresAt;

    /** Whether `expires_at` has come; the filter is removed 30 days later. */
    public bool $expired;

    /** Results that it has decided, or let pass. */
    public int $hits;

    public ?string $lastHitAt;

    public string $createdAt;

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
        if ($reader->has('id')) {
            $this->id = $reader->integer('id');
        }
        if ($reader->has('filter_type')) {
            $this->filterType = $reader->text('filter_type');
        }
        if ($reader->has('value')) {
            $this->value = $reader->text('value');
        }
        $this->reason = $reader->has('reason') ? $reader->text('reason') : null;
        if ($reader->has('action')) {
            $this->action = $reader->text('action');
        }
        if ($reader->has('match')) {
            $this->match = $reader->text('match');
        }
        $this->expiresAt = $reader->has('expires_at') ? $reader->text('expires_at') : null;
        if ($reader->has('expired')) {
            $this->expired = $reader->boolean('expired');
        }
        if ($reader->has('hits')) {
            $this->hits = $reader->integer('hits');
        }
        $this->lastHitAt = $reader->has('last_hit_at') ? $reader->text('last_hit_at') : null;
        if ($reader->has('created_at')) {
            $this->createdAt = $reader->text('created_at');
        }
        if ($reader->has('warnings')) {
            $this->warnings = $reader->texts('warnings');
        }
    }
}
