<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class OutcomeMessageResultDisregarded extends Reply
{
    /** Null: of the whole message. */
    public ?string $email;

    /** Stable, as `delayed` or `auto_reply`. */
    public string $why;

    public string $message;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        $this->email = $reader->has('email') ? $reader->text('email') : null;
        if ($reader->has('why')) {
            $this->why = $reader->text('why');
        }
        if ($reader->has('message')) {
            $this->message = $reader->text('message');
        }
    }
}
