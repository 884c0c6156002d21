<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class PolicySignals extends Reply
{
    /**
     * `is_disposable` is true
     *
     * @var 'accept'|'review'|'reject'|string
     */
    public string $disposable;

    /**
     * `is_relay` is true
     *
     * @var 'accept'|'review'|'reject'|string
     */
    public string $relay;

    /**
     * `is_role` is true
     *
     * @var 'accept'|'review'|'reject'|string
     */
    public string $role;

    /**
     * `is_free` is true
     *
     * @var 'accept'|'review'|'reject'|string
     */
    public string $free;

    /**
     * `is_catch_all` is true
     *
     * @var 'accept'|'review'|'reject'|string
     */
    public string $catchAll;

    /**
     * `deliverability` is `unknown`, and `reason` says why; `mx` alone, which asks no mailbox, does not count
     *
     * @var 'accept'|'review'|'reject'|string
     */
    public string $unknown;

    /**
     * `is_mailbox_full` is true
     *
     * @var 'accept'|'review'|'reject'|string
     */
    public string $full;

    /**
     * `did_you_mean` has an address
     *
     * @var 'accept'|'review'|'reject'|string
     */
    public string $typo;

    /**
     * `tag` has a text
     *
     * @var 'accept'|'review'|'reject'|string
     */
    public string $tag;

    /**
     * `seen.before` is true; only requests with a `scope` know it
     *
     * @var 'accept'|'review'|'reject'|string
     */
    public string $seenBefore;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('disposable')) {
            $this->disposable = $reader->text('disposable');
        }
        if ($reader->has('relay')) {
            $this->relay = $reader->text('relay');
        }
        if ($reader->has('role')) {
            $this->role = $reader->text('role');
        }
        if ($reader->has('free')) {
            $this->free = $reader->text('free');
        }
        if ($reader->has('catch_all')) {
            $this->catchAll = $reader->text('catch_all');
        }
        if ($reader->has('unknown')) {
            $this->unknown = $reader->text('unknown');
        }
        if ($reader->has('full')) {
            $this->full = $reader->text('full');
        }
        if ($reader->has('typo')) {
            $this->typo = $reader->text('typo');
        }
        if ($reader->has('tag')) {
            $this->tag = $reader->text('tag');
        }
        if ($reader->has('seen_before')) {
            $this->seenBefore = $reader->text('seen_before');
        }
    }
}
