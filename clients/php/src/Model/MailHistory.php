<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

/** What became of mail of the account to the mailbox, as reported in outcomes; null: nothing was. */
final readonly class MailHistory extends Reply
{
    /** When a message last arrived. */
    public ?string $deliveredAt;

    /** When the mail server last refused the recipient. */
    public ?string $bouncedAt;

    /** When the recipient last reported one as spam. */
    public ?string $complainedAt;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        $this->deliveredAt = $reader->has('delivered_at') ? $reader->text('delivered_at') : null;
        $this->bouncedAt = $reader->has('bounced_at') ? $reader->text('bounced_at') : null;
        $this->complainedAt = $reader->has('complained_at') ? $reader->text('complained_at') : null;
    }
}
