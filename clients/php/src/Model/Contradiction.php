<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class Contradiction extends Reply
{
    public string $verificationId;

    public \Mailvet\Enum\Deliverability|string $deliverability;

    public \Mailvet\Enum\Reason|string|null $reason;

    /** @var 'mx'|'smtp'|string */
    public string $validationType;

    /** Who runs the mail hosts. */
    public ?string $provider;

    /**
     * What became of the mail.
     *
     * @var 'delivered'|'bounced'|string
     */
    public string $outcome;

    public string $at;

    /** The classification rule that decided the verdict. */
    public ?string $rule;

    /** The codes of the reply that decided it. */
    public ?string $reply;

    /** The codes of the bounce. */
    public ?string $code;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('verification_id')) {
            $this->verificationId = $reader->text('verification_id');
        }
        if ($reader->has('deliverability')) {
            $this->deliverability = $reader->choice('deliverability', \Mailvet\Enum\Deliverability::class);
        }
        $this->reason = $reader->has('reason') ? $reader->choice('reason', \Mailvet\Enum\Reason::class) : null;
        if ($reader->has('validation_type')) {
            $this->validationType = $reader->text('validation_type');
        }
        $this->provider = $reader->has('provider') ? $reader->text('provider') : null;
        if ($reader->has('outcome')) {
            $this->outcome = $reader->text('outcome');
        }
        if ($reader->has('at')) {
            $this->at = $reader->text('at');
        }
        $this->rule = $reader->has('rule') ? $reader->text('rule') : null;
        $this->reply = $reader->has('reply') ? $reader->text('reply') : null;
        $this->code = $reader->has('code') ? $reader->text('code') : null;
    }
}
