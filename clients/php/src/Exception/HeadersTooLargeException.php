<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `headers_too_large`: Send fewer or shorter headers. */
final class HeadersTooLargeException extends MailvetException
{
}
