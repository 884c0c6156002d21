<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class DeliveryAttempts extends Reply
{
    public string $at;

    /** Of the HTTP reply; null: there was none. */
    public ?int $status;

    /**
     * Why there was no reply.
     *
     * @var
     * 'timeout'|'unknown_host'|'dns_failure'|'address_not_allowed'|'not_https'|'connection_failed'|'certificate_expired'|'certificate_name_mismatch'|'certificate_untrusted'|'tls_failed'|'invalid_reply'|string|null
     */
    public ?string $error;

    public int $durationMs;

    /** The first 1 KiB of the reply’s body. */
    public ?string $response;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('at')) {
            $this->at = $reader->text('at');
        }
        $this->status = $reader->has('status') ? $reader->integer('status') : null;
        $this->error = $reader->has('error') ? $reader->text('error') : null;
        if ($reader->has('duration_ms')) {
            $this->durationMs = $reader->integer('duration_ms');
        }
        $this->response = $reader->has('response') ? $reader->text('response') : null;
    }
}
