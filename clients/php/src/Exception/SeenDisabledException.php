<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `seen_disabled`: Send no `scope`. Operators turn the memory on with `MAILVET_SEEN_DAYS`. */
final class SeenDisabledException extends MailvetException
{
}
