<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `malformed_request`: Use an HTTP client. The connection is closed after this reply. */
final class MalformedRequestException extends MailvetException
{
}
