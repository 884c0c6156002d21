<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class EvidenceCatchAll extends Reply
{
    public \Mailvet\Enum\CheckResult|string $result;

    /** When the server answered about a random mailbox. */
    public ?string $checkedAt;

    /** The answer is remembered from an earlier check. */
    public bool $cached;

    /** Why it is unknown. */
    public ?string $why;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('result')) {
            $this->result = $reader->choice('result', \Mailvet\Enum\CheckResult::class);
        }
        $this->checkedAt = $reader->has('checked_at') ? $reader->text('checked_at') : null;
        if ($reader->has('cached')) {
            $this->cached = $reader->boolean('cached');
        }
        $this->why = $reader->has('why') ? $reader->text('why') : null;
    }
}
