<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `internal_error`: Retry. If it happens again, search the server log for the `request_id`. */
final class InternalErrorException extends MailvetException
{
}
