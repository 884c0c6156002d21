<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class CalibratedVerdict extends Reply
{
    public \Mailvet\Enum\Deliverability|string $deliverability;

    public \Mailvet\Enum\Reason|string|null $reason;

    /** @var 'mx'|'smtp'|string */
    public string $validationType;

    /** Who runs the mail hosts. */
    public ?string $provider;

    /** Verdicts with an outcome. */
    public int $sent;

    /** Of these, whose mail bounced for a reason of the recipient. */
    public int $bounced;

    /** bounced / sent; null with fewer than 50. */
    public ?float $bounceRate;

    /** Of its 95 % interval; null with fewer than 50. */
    public ?float $low;

    /** Of its 95 % interval; null with fewer than 50. */
    public ?float $high;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('deliverability')) {
            $this->deliverability = $reader->choice('deliverability', \Mailvet\Enum\Deliverability::class);
        }
        $this->reason = $reader->has('reason') ? $reader->choice('reason', \Mailvet\Enum\Reason::class) : null;
        if ($reader->has('validation_type')) {
            $this->validationType = $reader->text('validation_type');
        }
        $this->provider = $reader->has('provider') ? $reader->text('provider') : null;
        if ($reader->has('sent')) {
            $this->sent = $reader->integer('sent');
        }
        if ($reader->has('bounced')) {
            $this->bounced = $reader->integer('bounced');
        }
        $this->bounceRate = $reader->has('bounce_rate') ? $reader->number('bounce_rate') : null;
        $this->low = $reader->has('low') ? $reader->number('low') : null;
        $this->high = $reader->has('high') ? $reader->number('high') : null;
    }
}
