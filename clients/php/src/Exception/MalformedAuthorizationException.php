<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `malformed_authorization`: The word `Bearer` once, exactly one space, the key, nothing else. */
final class MalformedAuthorizationException extends MailvetException
{
}
