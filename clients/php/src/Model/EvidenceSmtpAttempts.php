<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class EvidenceSmtpAttempts extends Reply
{
    public string $host;

    public string $address;

    public ?string $stage;

    public ?int $code;

    public ?string $rule;

    /**
     * Why another attempt followed; null if none did.
     *
     * @var
     * 'deferred'|'next_host'|'next_address'|'new_session'|'without_pipelining'|'tls_1_2'|'in_clear'|string|null
     */
    public ?string $next;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('host')) {
            $this->host = $reader->text('host');
        }
        if ($reader->has('address')) {
            $this->address = $reader->text('address');
        }
        $this->stage = $reader->has('stage') ? $reader->text('stage') : null;
        $this->code = $reader->has('code') ? $reader->integer('code') : null;
        $this->rule = $reader->has('rule') ? $reader->text('rule') : null;
        $this->next = $reader->has('next') ? $reader->text('next') : null;
    }
}
