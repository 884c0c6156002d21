<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/**
 * `key_budget_spent`: Wait until `resets_at`, use another key, or raise the monthly budget of the key, which
 * `budget` names.
 */
final class KeyBudgetSpentException extends MailvetException
{
}
