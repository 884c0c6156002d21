<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `invalid_json`: Send one JSON object, encoded as UTF-8. */
final class InvalidJsonException extends MailvetException
{
}
