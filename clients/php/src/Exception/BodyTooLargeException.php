<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `body_too_large`: Send one address per request. */
final class BodyTooLargeException extends MailvetException
{
}
