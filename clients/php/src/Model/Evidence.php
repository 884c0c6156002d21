<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class Evidence extends Reply
{
    /** @var list<EvidenceMailHosts> */
    public array $mailHosts;

    /** @var list<EvidenceUnusableHosts> */
    public array $unusableHosts;

    public ?EvidenceSmtp $smtp;

    public ?EvidenceCatchAll $catchAll;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('mail_hosts')) {
            $this->mailHosts = $reader->objects('mail_hosts', EvidenceMailHosts::class);
        }
        if ($reader->has('unusable_hosts')) {
            $this->unusableHosts = $reader->objects('unusable_hosts', EvidenceUnusableHosts::class);
        }
        $this->smtp = $reader->has('smtp') ? $reader->object('smtp', EvidenceSmtp::class) : null;
        $this->catchAll = $reader->has('catch_all') ? $reader->object('catch_all', EvidenceCatchAll::class) : null;
    }
}
