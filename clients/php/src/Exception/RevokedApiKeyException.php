<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `revoked_api_key`: Revocation is final. Create a new key. */
final class RevokedApiKeyException extends MailvetException
{
}
