<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `invalid_policy`: The message says what is wrong with the field that `field` names. Nothing was saved. */
final class InvalidPolicyException extends MailvetException
{
}
