<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class WebhookFailingEventData extends Reply
{
    public string $webhookId;

    /** Without what may be a secret. */
    public string $url;

    public string $failingSince;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('webhook_id')) {
            $this->webhookId = $reader->text('webhook_id');
        }
        if ($reader->has('url')) {
            $this->url = $reader->text('url');
        }
        if ($reader->has('failing_since')) {
            $this->failingSince = $reader->text('failing_since');
        }
    }
}
