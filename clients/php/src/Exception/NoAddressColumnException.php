<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `no_address_column`: Name the column in `column`; `columns` lists those of the file. */
final class NoAddressColumnException extends MailvetException
{
}
