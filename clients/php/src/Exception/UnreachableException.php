<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `unreachable`: The service could not be reached, so the call may or may not have taken effect. */
final class UnreachableException extends MailvetException
{
}
