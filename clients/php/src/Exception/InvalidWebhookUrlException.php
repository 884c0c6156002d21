<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `invalid_webhook_url`: Use an https URL whose host name has a public address; the message says what is wrong. */
final class InvalidWebhookUrlException extends MailvetException
{
}
