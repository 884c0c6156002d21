<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Enum;

/** What to expect of a message. */
enum Deliverability: string
{
    case Deliverable = 'deliverable';
    case Undeliverable = 'undeliverable';
    case Risky = 'risky';
    case Unknown = 'unknown';
}
