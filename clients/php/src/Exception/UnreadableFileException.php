<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `unreadable_file`: The message says why, and `line` where. Send CSV, plain text, NDJSON or XLSX. */
final class UnreadableFileException extends MailvetException
{
}
