<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `filter_exists`: The filter already exists, with the id in `existing_id`. */
final class FilterExistsException extends MailvetException
{
}
