<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `plan_upgrade_required`: Use `mx`, or move the account to the plan that `upgrade_required` names. */
final class PlanUpgradeRequiredException extends MailvetException
{
}
