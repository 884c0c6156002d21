<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `not_found`: Check the path and the id. */
final class NotFoundException extends MailvetException
{
}
