<?php

declare(strict_types=1);

namespace Illuminate\Contracts\Validation;

/** As Laravel has it since version 10, where only an older one is installed. */
interface ValidationRule
{
    public function validate(string $attribute, mixed $value, \Closure $fail): void;
}
