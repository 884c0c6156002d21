<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `too_many_policies`: Delete a policy that you no longer use. */
final class TooManyPoliciesException extends MailvetException
{
}
