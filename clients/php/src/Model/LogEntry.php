<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class LogEntry extends Reply
{
    public string $id;

    public string $email;

    public \Mailvet\Enum\Status|string $status;

    public \Mailvet\Enum\Deliverability|string $deliverability;

    public \Mailvet\Enum\Reason|string|null $reason;

    /** @var 'mx'|'smtp'|string */
    public string $requested;

    /** @var 'mx'|'smtp'|string */
    public string $validationType;

    public int $creditsUsed;

    public int $durationMs;

    public ?string $clientIp;

    public ?LogEntryKey $key;

    public ?LogEntryList $list;

    /**
     * @var
     * 'mcp'|'reacher'|'kickbox'|'zerobounce'|'neverbounce'|'emailable'|'supabase'|'workos'|'kratos'|'zitadel'|'generic'|string|null
     */
    public ?string $via;

    /** @var 'accept'|'review'|'reject'|string|null */
    public ?string $decision;

    public ?string $egress;

    public string $createdAt;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('id')) {
            $this->id = $reader->text('id');
        }
        if ($reader->has('email')) {
            $this->email = $reader->text('email');
        }
        if ($reader->has('status')) {
            $this->status = $reader->choice('status', \Mailvet\Enum\Status::class);
        }
        if ($reader->has('deliverability')) {
            $this->deliverability = $reader->choice('deliverability', \Mailvet\Enum\Deliverability::class);
        }
        $this->reason = $reader->has('reason') ? $reader->choice('reason', \Mailvet\Enum\Reason::class) : null;
        if ($reader->has('requested')) {
            $this->requested = $reader->text('requested');
        }
        if ($reader->has('validation_type')) {
            $this->validationType = $reader->text('validation_type');
        }
        if ($reader->has('credits_used')) {
            $this->creditsUsed = $reader->integer('credits_used');
        }
        if ($reader->has('duration_ms')) {
            $this->durationMs = $reader->integer('duration_ms');
        }
        $this->clientIp = $reader->has('client_ip') ? $reader->text('client_ip') : null;
        $this->key = $reader->has('key') ? $reader->object('key', LogEntryKey::class) : null;
        $this->list = $reader->has('list') ? $reader->object('list', LogEntryList::class) : null;
        $this->via = $reader->has('via') ? $reader->text('via') : null;
        $this->decision = $reader->has('decision') ? $reader->text('decision') : null;
        $this->egress = $reader->has('egress') ? $reader->text('egress') : null;
        if ($reader->has('created_at')) {
            $this->createdAt = $reader->text('created_at');
        }
    }
}
