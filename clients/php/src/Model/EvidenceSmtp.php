<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class EvidenceSmtp extends Reply
{
    public ?string $host;

    public ?string $address;

    public bool $tls;

    public ?string $rule;

    /** As in `checks.smtp`. */
    public ?string $egress;

    /**
     * What read the reply that decided; null if none did.
     *
     * @var 'operator'|'rule'|'model'|string|null
     */
    public ?string $decidedBy;

    /** That the mailbox cannot be reached, as the model saw that reply, from 0 to 1. */
    public ?float $probability;

    /**
     * The mail hosts that were asked, in order; the last one need not be the one that decided.
     *
     * @var list<EvidenceSmtpAttempts>
     */
    public array $attempts;

    /** @var list<EvidenceSmtpTranscript> */
    public array $transcript;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        $this->host = $reader->has('host') ? $reader->text('host') : null;
        $this->address = $reader->has('address') ? $reader->text('address') : null;
        if ($reader->has('tls')) {
            $this->tls = $reader->boolean('tls');
        }
        $this->rule = $reader->has('rule') ? $reader->text('rule') : null;
        $this->egress = $reader->has('egress') ? $reader->text('egress') : null;
        $this->decidedBy = $reader->has('decided_by') ? $reader->text('decided_by') : null;
        $this->probability = $reader->has('probability') ? $reader->number('probability') : null;
        if ($reader->has('attempts')) {
            $this->attempts = $reader->objects('attempts', EvidenceSmtpAttempts::class);
        }
        if ($reader->has('transcript')) {
            $this->transcript = $reader->objects('transcript', EvidenceSmtpTranscript::class);
        }
    }
}
