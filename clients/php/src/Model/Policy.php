<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class Policy extends Reply
{
    public string $name;

    /** Comes with the service: can be copied, not changed or deleted. */
    public bool $builtIn;

    public PolicySignals $signals;

    /**
     * Level of the check where the request has none.
     *
     * @var 'mx'|'smtp'|string
     */
    public string $validationType;

    /** Time limit of the check in milliseconds, where the request has none. */
    public int $timeoutMs;

    /**
     * What to decide where there is no verdict, because of an outage, an empty balance or a limit.
     *
     * @var 'accept'|'review'|'reject'|string
     */
    public string $onOutage;

    public PolicyMessages $messages;

    /** Null where it is built in. */
    public ?string $createdAt;

    /** Null where it is built in. */
    public ?string $changedAt;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('name')) {
            $this->name = $reader->text('name');
        }
        if ($reader->has('built_in')) {
            $this->builtIn = $reader->boolean('built_in');
        }
        if ($reader->has('signals')) {
            $this->signals = $reader->object('signals', PolicySignals::class);
        }
        if ($reader->has('validation_type')) {
            $this->validationType = $reader->text('validation_type');
        }
        if ($reader->has('timeout_ms')) {
            $this->timeoutMs = $reader->integer('timeout_ms');
        }
        if ($reader->has('on_outage')) {
            $this->onOutage = $reader->text('on_outage');
        }
        if ($reader->has('messages')) {
            $this->messages = $reader->object('messages', PolicyMessages::class);
        }
        $this->createdAt = $reader->has('created_at') ? $reader->text('created_at') : null;
        $this->changedAt = $reader->has('changed_at') ? $reader->text('changed_at') : null;
    }
}
