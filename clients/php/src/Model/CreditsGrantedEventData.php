<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class CreditsGrantedEventData extends Reply
{
    public CreditsGrantedEventDataAccount $account;

    /** Negative: taken back. */
    public int $credits;

    public string $note;

    /** After it. */
    public int $balance;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('account')) {
            $this->account = $reader->object('account', CreditsGrantedEventDataAccount::class);
        }
        if ($reader->has('credits')) {
            $this->credits = $reader->integer('credits');
        }
        if ($reader->has('note')) {
            $this->note = $reader->text('note');
        }
        if ($reader->has('balance')) {
            $this->balance = $reader->integer('balance');
        }
    }
}
