<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `api_key_required`: Use an API key of the account. `POST /v1/operator/accounts/:id/keys` creates one. */
final class ApiKeyRequiredException extends MailvetException
{
}
