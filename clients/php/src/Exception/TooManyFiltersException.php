<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/**
 * `too_many_filters`: Remove filters, or block a domain instead of its addresses; or change the plan. `limit` is
 * the number.
 */
final class TooManyFiltersException extends MailvetException
{
}
