<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `redirected`: The service answered with a redirect, which is not followed. */
final class RedirectedException extends MailvetException
{
}
