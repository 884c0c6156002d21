<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Enum;

/** What the policy says to do. */
enum PolicyAction: string
{
    case Accept = 'accept';
    case Review = 'review';
    case Reject = 'reject';
}
