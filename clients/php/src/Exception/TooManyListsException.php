<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `too_many_lists`: Delete lists whose results you have. */
final class TooManyListsException extends MailvetException
{
}
