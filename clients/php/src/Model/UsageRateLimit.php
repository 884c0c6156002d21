<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class UsageRateLimit extends Reply
{
    public int $limit;

    public int $remaining;

    public int $windowSeconds;

    public string $resetAt;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('limit')) {
            $this->limit = $reader->integer('limit');
        }
        if ($reader->has('remaining')) {
            $this->remaining = $reader->integer('remaining');
        }
        if ($reader->has('window_seconds')) {
            $this->windowSeconds = $reader->integer('window_seconds');
        }
        if ($reader->has('reset_at')) {
            $this->resetAt = $reader->text('reset_at');
        }
    }
}
