<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `rate_limit_exceeded`: Wait `Retry-After` seconds. The `RateLimit` headers show what is left. */
final class RateLimitExceededException extends MailvetException
{
}
