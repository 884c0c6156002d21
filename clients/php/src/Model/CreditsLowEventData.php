<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class CreditsLowEventData extends Reply
{
    public CreditsLowEventDataCredits $credits;

    /** The alert threshold of the account. */
    public int $lowBalance;

    public ?CreditsLowEventDataAccount $account;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('credits')) {
            $this->credits = $reader->object('credits', CreditsLowEventDataCredits::class);
        }
        if ($reader->has('low_balance')) {
            $this->lowBalance = $reader->integer('low_balance');
        }
        $this->account = $reader->has('account')
            ? $reader->object('account', CreditsLowEventDataAccount::class)
            : null;
    }
}
