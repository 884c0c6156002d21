<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `overloaded`: Retry after `Retry-After` seconds. */
final class OverloadedException extends MailvetException
{
}
