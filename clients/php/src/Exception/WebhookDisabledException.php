<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `webhook_disabled`: Enable the webhook, then replay the delivery. */
final class WebhookDisabledException extends MailvetException
{
}
