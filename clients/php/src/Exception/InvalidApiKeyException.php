<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `invalid_api_key`: Check the key for missing characters, or create a new one. */
final class InvalidApiKeyException extends MailvetException
{
}
