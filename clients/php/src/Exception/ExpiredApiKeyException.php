<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/**
 * `expired_api_key`: Edit the key and set a later expiry date, or create a new one. `expired_at` says when it
 * expired.
 */
final class ExpiredApiKeyException extends MailvetException
{
}
