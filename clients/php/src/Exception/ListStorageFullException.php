<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/**
 * `list_storage_full`: Delete lists whose results you have, or change the plan. `limit` is in bytes; `storage` of
 * the usage says what is used.
 */
final class ListStorageFullException extends MailvetException
{
}
