<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `no_addresses`: See `read` and `warnings` of the list; read it in another way, or upload another file. */
final class NoAddressesException extends MailvetException
{
}
