<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `reply_too_large`: The reply was larger than 32 MiB, and was not read to its end. */
final class ReplyTooLargeException extends MailvetException
{
}
