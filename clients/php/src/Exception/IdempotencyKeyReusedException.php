<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `idempotency_key_reused`: Use a new key for each different request. */
final class IdempotencyKeyReusedException extends MailvetException
{
}
