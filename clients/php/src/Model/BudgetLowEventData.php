<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class BudgetLowEventData extends Reply
{
    public string $keyId;

    public string $name;

    public int $monthlyCredits;

    public int $used;

    public string $resetsAt;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('key_id')) {
            $this->keyId = $reader->text('key_id');
        }
        if ($reader->has('name')) {
            $this->name = $reader->text('name');
        }
        if ($reader->has('monthly_credits')) {
            $this->monthlyCredits = $reader->integer('monthly_credits');
        }
        if ($reader->has('used')) {
            $this->used = $reader->integer('used');
        }
        if ($reader->has('resets_at')) {
            $this->resetsAt = $reader->text('resets_at');
        }
    }
}
