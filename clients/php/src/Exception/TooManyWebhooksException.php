<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `too_many_webhooks`: Delete a webhook, or let one receive several events. */
final class TooManyWebhooksException extends MailvetException
{
}
