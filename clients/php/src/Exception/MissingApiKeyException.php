<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `missing_api_key`: Add the header `Authorization: Bearer mv_live_…`. */
final class MissingApiKeyException extends MailvetException
{
}
