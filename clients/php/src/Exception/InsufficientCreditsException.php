<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `insufficient_credits`: Grant credits to the account; `GET /v1/usage` shows the balance. */
final class InsufficientCreditsException extends MailvetException
{
}
