<?php

declare(strict_types=1);

namespace Mailvet;

use Mailvet\Api\OutcomesApi;
use Mailvet\Model\OutcomeMessageResult;

/** See `Client::$outcomes`. */
final class Outcomes extends OutcomesApi
{
    /**
     * Reports a bounce or a complaint as a mail server sent it.
     *
     * @param string $message the whole message with its headers
     * @param string|null $source your name of what sent the mail
     */
    public function reportMessage(string $message, ?string $source = null, ?float $timeout = null): OutcomeMessageResult
    {
        return new OutcomeMessageResult($this->transport->send(
            'POST',
            '/v1/outcomes/message',
            query: ['source' => $source],
            upload: Upload::fromString($message, type: 'message/rfc822'),
            timeout: $timeout,
        ));
    }
}
