<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `test_in_progress`: Wait for the reply to the last test. */
final class TestInProgressException extends MailvetException
{
}
