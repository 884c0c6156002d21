<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class WebhookCreated extends Reply
{
    public string $id;

    /** Of a chat: without the part that is its secret. */
    public string $url;

    /**
     * `events`: signed JSON; `slack`: `{"text": …}` for a chat, of those events that are alerts.
     *
     * @var 'events'|'slack'|string
     */
    public string $format;

    /**
     * The events that it receives; `*`: all of them.
     *
     * @var
     * list<'list.completed'|'list.failed'|'list.cancelled'|'credits.low'|'account.created'|'credits.granted'|'credits.exhausted'|'key.created'|'key.revoked'|'outcomes.contradiction'|'rejections.high'|'unknowns.high'|'budget.low'|'webhook.failing'|'smtp.unreachable'|'ping'|'*'|string>
     */
    public array $events;

    public ?string $description;

    public bool $enabled;

    /**
     * `manual`: by a request; `gone`: it answered 410; `failing`: every attempt failed for days.
     *
     * @var 'manual'|'gone'|'failing'|string|null
     */
    public ?string $disabledReason;

    public ?string $disabledAt;

    /** Every attempt since then has failed. */
    public ?string $failingSince;

    /** Until then the secrets before the last rotation sign as well. */
    public ?string $previousSecretUntil;

    public string $createdAt;

    /** Signs what is sent; shown only now. */
    public string $secret;

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
            $this->id = $reader->text('id');
        }
        if ($reader->has('url')) {
            $this->url = $reader->text('url');
        }
        if ($reader->has('format')) {
            $this->format = $reader->text('format');
        }
        if ($reader->has('events')) {
            $this->events = $reader->texts('events');
        }
        $this->description = $reader->has('description') ? $reader->text('description') : null;
        if ($reader->has('enabled')) {
            $this->enabled = $reader->boolean('enabled');
        }
        $this->disabledReason = $reader->has('disabled_reason') ? $reader->text('disabled_reason') : null;
        $this->disabledAt = $reader->has('disabled_at') ? $reader->text('disabled_at') : null;
        $this->failingSince = $reader->has('failing_since') ? $reader->text('failing_since') : null;
        $this->previousSecretUntil = $reader->has('previous_secret_until')
            ? $reader->text('previous_secret_until')
            : null;
        if ($reader->has('created_at')) {
            $this->createdAt = $reader->text('created_at');
        }
        if ($reader->has('secret')) {
            $this->secret = $reader->text('secret');
        }
        if ($reader->has('warnings')) {
            $this->warnings = $reader->texts('warnings');
        }
    }
}
