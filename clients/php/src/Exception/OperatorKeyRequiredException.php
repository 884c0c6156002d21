<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `operator_key_required`: Create an operator key with `mailvet operator-key create`. */
final class OperatorKeyRequiredException extends MailvetException
{
}
