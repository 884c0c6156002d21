<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `external_id_taken`: Use the account that `account` names, or another `external_id`. */
final class ExternalIdTakenException extends MailvetException
{
}
