<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class CreditsExhaustedEventData extends Reply
{
    public CreditsExhaustedEventDataAccount $account;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('account')) {
            $this->account = $reader->object('account', CreditsExhaustedEventDataAccount::class);
        }
    }
}
