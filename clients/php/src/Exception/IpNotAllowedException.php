<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `ip_not_allowed`: Call from a listed address, or edit the allowlist of the key. */
final class IpNotAllowedException extends MailvetException
{
}
