<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `unexpected_reply`: The reply did not come from Mailvet. */
final class UnexpectedReplyException extends MailvetException
{
}
