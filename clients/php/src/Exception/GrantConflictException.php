<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `grant_conflict`: Repeat a grant with the account and credits that it had, or use a new `external_id`. */
final class GrantConflictException extends MailvetException
{
}
