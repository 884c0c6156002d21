<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `policy_in_use`: Give the hooks that `hooks` names another policy, or delete them first. */
final class PolicyInUseException extends MailvetException
{
}
