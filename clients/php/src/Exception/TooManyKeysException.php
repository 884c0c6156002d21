<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `too_many_keys`: Revoke a key that is no longer used. A rolled key counts until its grace period ends. */
final class TooManyKeysException extends MailvetException
{
}
