<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `timeout`: There was no reply in time, so the call may or may not have taken effect. */
final class TimeoutException extends MailvetException
{
}
