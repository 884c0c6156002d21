<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class ChecksMx extends Reply
{
    public \Mailvet\Enum\CheckResult|string $result;

    /** @var list<ChecksMxRecords>|null */
    public ?array $records;

    public ?string $provider;

    /**
     * What the mail hosts of the provider do with mail.
     *
     * @var 'mailbox'|'gateway'|'hosting'|'forwarder'|'relay'|string|null
     */
    public ?string $providerKind;

    /** How the DNS question failed. */
    public ?string $failure;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('result')) {
            $this->result = $reader->choice('result', \Mailvet\Enum\CheckResult::class);
        }
        $this->records = $reader->has('records') ? $reader->objects('records', ChecksMxRecords::class) : null;
        $this->provider = $reader->has('provider') ? $reader->text('provider') : null;
        $this->providerKind = $reader->has('provider_kind') ? $reader->text('provider_kind') : null;
        $this->failure = $reader->has('failure') ? $reader->text('failure') : null;
    }
}
