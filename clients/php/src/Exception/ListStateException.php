<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `list_state`: See the `status` of the list, which `status` names here as well, and the page of lists. */
final class ListStateException extends MailvetException
{
}
