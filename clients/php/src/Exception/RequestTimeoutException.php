<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/**
 * `request_timeout`: Send the headers within 10 seconds, and the body within 14 seconds after them. The connection
 * is closed after this reply.
 */
final class RequestTimeoutException extends MailvetException
{
}
