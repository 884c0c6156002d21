<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `policy_not_found`: Use one of the names in `policies`, or make the policy first. Test mode has its own policies. */
final class PolicyNotFoundException extends MailvetException
{
}
