<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `scope_missing`: Add the scope that `scope` names to the key, or use another key. */
final class ScopeMissingException extends MailvetException
{
}
