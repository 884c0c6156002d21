<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/**
 * `too_many_mailboxes`: Forget scopes that you no longer use (`DELETE /v1/seen`), or change the plan; or send no
 * `scope`. `limit` is the number.
 */
final class TooManyMailboxesException extends MailvetException
{
}
