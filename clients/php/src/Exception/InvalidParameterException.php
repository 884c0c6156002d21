<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `invalid_parameter`: Correct the parameter that `field` names; the message says what it accepts. */
final class InvalidParameterException extends MailvetException
{
}
