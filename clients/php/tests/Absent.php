<?php

declare(strict_types=1);

namespace Mailvet\Tests;

enum Absent
{
    case Field;
}
