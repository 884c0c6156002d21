<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `missing_parameter`: Send the parameter that `field` names. */
final class MissingParameterException extends MailvetException
{
}
