<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Enum;

enum Status: string
{
    case Good = 'good';
    case Bad = 'bad';
}
