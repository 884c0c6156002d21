<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class EvidenceSmtpTranscript extends Reply
{
    /** Milliseconds since the dialogue began. */
    public float $at;

    /** @var 'client'|'server'|'note'|string */
    public string $from;

    public string $text;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('at')) {
            $this->at = $reader->number('at');
        }
        if ($reader->has('from')) {
            $this->from = $reader->text('from');
        }
        if ($reader->has('text')) {
            $this->text = $reader->text('text');
        }
    }
}
