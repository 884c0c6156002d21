<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `invalid_filter`: The message says what is wrong with the field that `field` names. */
final class InvalidFilterException extends MailvetException
{
}
