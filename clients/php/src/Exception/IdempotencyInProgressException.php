<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `idempotency_in_progress`: Wait `Retry-After` seconds, then send the same request again. */
final class IdempotencyInProgressException extends MailvetException
{
}
