<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

/** What is not known, or not done, is null. */
final readonly class ListRow extends Reply
{
    /** From 1, the header not counted. A row with several addresses appears here once for each. */
    public int $row;

    /** Which of the addresses of its row, from 1; null where it has one. */
    public ?int $part;

    /** How many addresses its row has. */
    public ?int $parts;

    /** From which the address was taken, where that is not the main one. */
    public ?string $column;

    public ?string $email;

    public \Mailvet\Enum\Status|string|null $status;

    public \Mailvet\Enum\Deliverability|string|null $deliverability;

    public \Mailvet\Enum\Reason|string|null $reason;

    public ?string $didYouMean;

    /** @var 'mx'|'smtp'|string|null */
    public ?string $validationType;

    /** 0 where `is_duplicate` is true. */
    public ?int $creditsUsed;

    public ?bool $isDisposable;

    public ?bool $isRole;

    public ?bool $isFree;

    public ?bool $isRelay;

    public ?bool $isCatchAll;

    /**
     * Of the policy of the list; null without one, and without a result.
     *
     * @var 'accept'|'review'|'reject'|string|null
     */
    public ?string $decision;

    /** Who runs the relay. */
    public ?string $relayProvider;

    /** From where the mail server was asked, as in `checks.smtp`. */
    public ?string $egress;

    public ?Checks $checks;

    /** For comparing, as in a single check: addresses of one mailbox have the same. */
    public ?string $canonicalEmail;

    /** An earlier row has the address, or its mailbox: this one has its result, free of charge. */
    public ?bool $isDuplicate;

    /** How often the address was asked about. */
    public int $attempts;

    public ?string $verifiedAt;

    public ?ListRowProblem $problem;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('row')) {
            $this->row = $reader->integer('row');
        }
        $this->part = $reader->has('part') ? $reader->integer('part') : null;
        $this->parts = $reader->has('parts') ? $reader->integer('parts') : null;
        $this->column = $reader->has('column') ? $reader->text('column') : null;
        $this->email = $reader->has('email') ? $reader->text('email') : null;
        $this->status = $reader->has('status') ? $reader->choice('status', \Mailvet\Enum\Status::class) : null;
        $this->deliverability = $reader->has('deliverability')
            ? $reader->choice('deliverability', \Mailvet\Enum\Deliverability::class)
            : null;
        $this->reason = $reader->has('reason') ? $reader->choice('reason', \Mailvet\Enum\Reason::class) : null;
        $this->didYouMean = $reader->has('did_you_mean') ? $reader->text('did_you_mean') : null;
        $this->validationType = $reader->has('validation_type') ? $reader->text('validation_type') : null;
        $this->creditsUsed = $reader->has('credits_used') ? $reader->integer('credits_used') : null;
        $this->isDisposable = $reader->has('is_disposable') ? $reader->boolean('is_disposable') : null;
        $this->isRole = $reader->has('is_role') ? $reader->boolean('is_role') : null;
        $this->isFree = $reader->has('is_free') ? $reader->boolean('is_free') : null;
        $this->isRelay = $reader->has('is_relay') ? $reader->boolean('is_relay') : null;
        $this->isCatchAll = $reader->has('is_catch_all') ? $reader->boolean('is_catch_all') : null;
        $this->decision = $reader->has('decision') ? $reader->text('decision') : null;
        $this->relayProvider = $reader->has('relay_provider') ? $reader->text('relay_provider') : null;
        $this->egress = $reader->has('egress') ? $reader->text('egress') : null;
        $this->checks = $reader->has('checks') ? $reader->object('checks', Checks::class) : null;
        $this->canonicalEmail = $reader->has('canonical_email') ? $reader->text('canonical_email') : null;
        $this->isDuplicate = $reader->has('is_duplicate') ? $reader->boolean('is_duplicate') : null;
        if ($reader->has('attempts')) {
            $this->attempts = $reader->integer('attempts');
        }
        $this->verifiedAt = $reader->has('verified_at') ? $reader->text('verified_at') : null;
        $this->problem = $reader->has('problem') ? $reader->object('problem', ListRowProblem::class) : null;
    }
}
