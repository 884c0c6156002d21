<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class Verification extends Reply
{
    /** Exactly as sent; in the log, `hash:…` where addresses are not kept. */
    public string $email;

    public \Mailvet\Enum\Status|string $status;

    /**
     * The level that gave the answer, and that was billed.
     *
     * @var 'mx'|'smtp'|string
     */
    public string $validationType;

    public int $creditsUsed;

    public bool $isDisposable;

    public \Mailvet\Enum\Deliverability|string $deliverability;

    public \Mailvet\Enum\Reason|string|null $reason;

    public ?string $didYouMean;

    public ?string $normalizedEmail;

    /**
     * For comparing: addresses of one mailbox have the same. Never mail to it, and never show it as the user’s
     * address.
     */
    public ?string $canonicalEmail;

    /** The provider whose rule applied; `tag`: only a +tag was cut; null: nothing was changed. */
    public ?string $canonicalRule;

    public ?Seen $seen;

    public ?MailHistory $history;

    public ?Confidence $confidence;

    public ?string $localPart;

    public ?string $domain;

    public ?string $tag;

    /** A function, not a person: info@, sales@. */
    public ?bool $isRole;

    /** A free mail provider. */
    public ?bool $isFree;

    /** A privacy relay, such as Hide My Email. */
    public ?bool $isRelay;

    /** Who runs the relay. */
    public ?string $relayProvider;

    /** The server accepts any mailbox. */
    public ?bool $isCatchAll;

    /** The mailbox is full. */
    public ?bool $isMailboxFull;

    /** The mailbox is disabled. */
    public ?bool $isDisabled;

    /** Seconds after which asking again makes sense. */
    public ?int $retryAfter;

    public Checks $checks;

    /**
     * What the request has that is unknown, or changes nothing.
     *
     * @var list<string>
     */
    public array $warnings;

    public string $id;

    public int $durationMs;

    public string $verifiedAt;

    public ?Evidence $evidence;

    public ?Decision $decision;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('email')) {
            $this->email = $reader->text('email');
        }
        if ($reader->has('status')) {
            $this->status = $reader->choice('status', \Mailvet\Enum\Status::class);
        }
        if ($reader->has('validation_type')) {
            $this->validationType = $reader->text('validation_type');
        }
        if ($reader->has('credits_used')) {
            $this->creditsUsed = $reader->integer('credits_used');
        }
        if ($reader->has('is_disposable')) {
            $this->isDisposable = $reader->boolean('is_disposable');
        }
        if ($reader->has('deliverability')) {
            $this->deliverability = $reader->choice('deliverability', \Mailvet\Enum\Deliverability::class);
        }
        $this->reason = $reader->has('reason') ? $reader->choice('reason', \Mailvet\Enum\Reason::class) : null;
        $this->didYouMean = $reader->has('did_you_mean') ? $reader->text('did_you_mean') : null;
        $this->normalizedEmail = $reader->has('normalized_email') ? $reader->text('normalized_email') : null;
        $this->canonicalEmail = $reader->has('canonical_email') ? $reader->text('canonical_email') : null;
        $this->canonicalRule = $reader->has('canonical_rule') ? $reader->text('canonical_rule') : null;
        $this->seen = $reader->has('seen') ? $reader->object('seen', Seen::class) : null;
        $this->history = $reader->has('history') ? $reader->object('history', MailHistory::class) : null;
        $this->confidence = $reader->has('confidence') ? $reader->object('confidence', Confidence::class) : null;
        $this->localPart = $reader->has('local_part') ? $reader->text('local_part') : null;
        $this->domain = $reader->has('domain') ? $reader->text('domain') : null;
        $this->tag = $reader->has('tag') ? $reader->text('tag') : null;
        $this->isRole = $reader->has('is_role') ? $reader->boolean('is_role') : null;
        $this->isFree = $reader->has('is_free') ? $reader->boolean('is_free') : null;
        $this->isRelay = $reader->has('is_relay') ? $reader->boolean('is_relay') : null;
        $this->relayProvider = $reader->has('relay_provider') ? $reader->text('relay_provider') : null;
        $this->isCatchAll = $reader->has('is_catch_all') ? $reader->boolean('is_catch_all') : null;
        $this->isMailboxFull = $reader->has('is_mailbox_full') ? $reader->boolean('is_mailbox_full') : null;
        $this->isDisabled = $reader->has('is_disabled') ? $reader->boolean('is_disabled') : null;
        $this->retryAfter = $reader->has('retry_after') ? $reader->integer('retry_after') : null;
        if ($reader->has('checks')) {
            $this->checks = $reader->object('checks', Checks::class);
        }
        if ($reader->has('warnings')) {
            $this->warnings = $reader->texts('warnings');
        }
        if ($reader->has('id')) {
            $this->id = $reader->text('id');
        }
        if ($reader->has('duration_ms')) {
            $this->durationMs = $reader->integer('duration_ms');
        }
        if ($reader->has('verified_at')) {
            $this->verifiedAt = $reader->text('verified_at');
        }
        $this->evidence = $reader->has('evidence') ? $reader->object('evidence', Evidence::class) : null;
        $this->decision = $reader->has('decision') ? $reader->object('decision', Decision::class) : null;
    }
}
