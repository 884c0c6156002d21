<?php

declare(strict_types=1);

namespace Mailvet;

/** Where null has a meaning of its own, what is left out is `Omitted::Field`. */
enum Omitted
{
    case Field;
}
