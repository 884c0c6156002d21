<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `balance_too_small`: Take back at most the remaining credits. */
final class BalanceTooSmallException extends MailvetException
{
}
