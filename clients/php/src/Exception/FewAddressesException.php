<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `few_addresses`: See `read` and `warnings` of the list; then start it, or read it in another way. */
final class FewAddressesException extends MailvetException
{
}
