<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class Key extends Reply
{
    public string $id;

    public string $name;

    /** `mv_live_…` and the last four characters. */
    public string $key;

    /** @var list<string> */
    public array $allowIps;

    /** @var list<string> */
    public array $scopes;

    /** Null: no budget. */
    public ?int $monthlyCredits;

    public string $createdAt;

    public ?string $expiresAt;

    /** From then on it is refused. */
    public ?string $revokedAt;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('id')) {
            $this->id = $reader->text('id');
        }
        if ($reader->has('name')) {
            $this->name = $reader->text('name');
        }
        if ($reader->has('key')) {
            $this->key = $reader->text('key');
        }
        if ($reader->has('allow_ips')) {
            $this->allowIps = $reader->texts('allow_ips');
        }
        if ($reader->has('scopes')) {
            $this->scopes = $reader->texts('scopes');
        }
        $this->monthlyCredits = $reader->has('monthly_credits') ? $reader->integer('monthly_credits') : null;
        if ($reader->has('created_at')) {
            $this->createdAt = $reader->text('created_at');
        }
        $this->expiresAt = $reader->has('expires_at') ? $reader->text('expires_at') : null;
        $this->revokedAt = $reader->has('revoked_at') ? $reader->text('revoked_at') : null;
    }
}
