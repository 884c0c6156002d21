<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `policy_built_in`: Save its rules under another name. */
final class PolicyBuiltInException extends MailvetException
{
}
