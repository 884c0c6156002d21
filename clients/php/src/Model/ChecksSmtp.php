<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class ChecksSmtp extends Reply
{
    public \Mailvet\Enum\CheckResult|string $result;

    public ?string $host;

    public ?string $stage;

    public ?int $code;

    public ?string $enhancedCode;

    /**
     * What the mail server said with the code that decided, without mail addresses and the words of the local part;
     * null: no reply decided.
     */
    public ?string $message;

    public ?bool $tls;

    /** The classification rule that decided. */
    public ?string $rule;

    /** Name of the egress from which the mail server was asked, or was to be asked. */
    public ?string $egress;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('result')) {
            $this->result = $reader->choice('result', \Mailvet\Enum\CheckResult::class);
        }
        $this->host = $reader->has('host') ? $reader->text('host') : null;
        $this->stage = $reader->has('stage') ? $reader->text('stage') : null;
        $this->code = $reader->has('code') ? $reader->integer('code') : null;
        $this->enhancedCode = $reader->has('enhanced_code') ? $reader->text('enhanced_code') : null;
        $this->message = $reader->has('message') ? $reader->text('message') : null;
        $this->tls = $reader->has('tls') ? $reader->boolean('tls') : null;
        $this->rule = $reader->has('rule') ? $reader->text('rule') : null;
        $this->egress = $reader->has('egress') ? $reader->text('egress') : null;
    }
}
