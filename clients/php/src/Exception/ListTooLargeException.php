<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `list_too_large`: Split the file; the message names the limit, and `limit` is its value. */
final class ListTooLargeException extends MailvetException
{
}
