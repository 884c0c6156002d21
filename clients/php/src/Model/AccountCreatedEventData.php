<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class AccountCreatedEventData extends Reply
{
    public AccountCreatedEventDataAccount $account;

    public string $plan;

    /** The opening balance. */
    public int $credits;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('account')) {
            $this->account = $reader->object('account', AccountCreatedEventDataAccount::class);
        }
        if ($reader->has('plan')) {
            $this->plan = $reader->text('plan');
        }
        if ($reader->has('credits')) {
            $this->credits = $reader->integer('credits');
        }
    }
}
