<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `method_not_allowed`: Use a method listed in the `Allow` header. */
final class MethodNotAllowedException extends MailvetException
{
}
