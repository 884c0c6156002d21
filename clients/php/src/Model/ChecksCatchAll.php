<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class ChecksCatchAll extends Reply
{
    public \Mailvet\Enum\CheckResult|string $result;

    /** Of a catch-all: what became of the account's mail to its mailboxes. */
    public ?ChecksCatchAllOutcomes $outcomes;

    /**
     * When the server answered about a random mailbox. The answer is remembered for hours, so it may be older than
     * the check; null: it did not answer.
     */
    public ?string $checkedAt;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('result')) {
            $this->result = $reader->choice('result', \Mailvet\Enum\CheckResult::class);
        }
        $this->outcomes = $reader->has('outcomes')
            ? $reader->object('outcomes', ChecksCatchAllOutcomes::class)
            : null;
        $this->checkedAt = $reader->has('checked_at') ? $reader->text('checked_at') : null;
    }
}
