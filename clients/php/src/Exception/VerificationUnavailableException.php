<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `verification_unavailable`: Retry after `Retry-After` seconds. Operators find the cause in `/readyz`. */
final class VerificationUnavailableException extends MailvetException
{
}
