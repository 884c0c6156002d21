<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class UsageValidationTypesSmtp extends Reply
{
    /** Credits that one answer at this level costs. */
    public int $credits;

    public bool $available;

    /** The plan that has this level. */
    public ?string $upgradeRequired;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('credits')) {
            $this->credits = $reader->integer('credits');
        }
        if ($reader->has('available')) {
            $this->available = $reader->boolean('available');
        }
        $this->upgradeRequired = $reader->has('upgrade_required') ? $reader->text('upgrade_required') : null;
    }
}
