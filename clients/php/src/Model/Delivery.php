<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class Delivery extends Reply
{
    public string $id;

    /** The webhook that it is sent to. */
    public string $webhookId;

    /** The header `webhook-id`: the same in each attempt and replay. */
    public string $eventId;

    /**
     * @var
     * 'list.completed'|'list.failed'|'list.cancelled'|'credits.low'|'account.created'|'credits.granted'|'credits.exhausted'|'key.created'|'key.revoked'|'outcomes.contradiction'|'rejections.high'|'unknowns.high'|'budget.low'|'webhook.failing'|'smtp.unreachable'|'ping'|string
     */
    public string $event;

    /** @var 'pending'|'delivered'|'failed'|string */
    public string $status;

    /**
     * In order of time.
     *
     * @var list<DeliveryAttempts>
     */
    public array $attempts;

    public ?string $nextAttemptAt;

    public string $createdAt;

    public ?string $finishedAt;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('id')) {
            $this->id = $reader->text('id');
        }
        if ($reader->has('webhook_id')) {
            $this->webhookId = $reader->text('webhook_id');
        }
        if ($reader->has('event_id')) {
            $this->eventId = $reader->text('event_id');
        }
        if ($reader->has('event')) {
            $this->event = $reader->text('event');
        }
        if ($reader->has('status')) {
            $this->status = $reader->text('status');
        }
        if ($reader->has('attempts')) {
            $this->attempts = $reader->objects('attempts', DeliveryAttempts::class);
        }
        $this->nextAttemptAt = $reader->has('next_attempt_at') ? $reader->text('next_attempt_at') : null;
        if ($reader->has('created_at')) {
            $this->createdAt = $reader->text('created_at');
        }
        $this->finishedAt = $reader->has('finished_at') ? $reader->text('finished_at') : null;
    }
}
