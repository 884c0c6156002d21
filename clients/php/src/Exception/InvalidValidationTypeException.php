<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `invalid_validation_type`: Send `mx` or `smtp`, or omit the field for `mx`. */
final class InvalidValidationTypeException extends MailvetException
{
}
