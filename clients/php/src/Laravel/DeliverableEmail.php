<?php

declare(strict_types=1);

namespace Mailvet\Laravel;

use Closure;
use Illuminate\Contracts\Validation\ValidationRule;
use Mailvet\Guard;

/** A rule for Laravel's validator: fails for an address that the guard rejects, with its message. */
final readonly class DeliverableEmail implements ValidationRule
{
    public function __construct(
        private Guard $guard,
        private ?string $clientIp = null,
        private ?string $language = null,
        private bool $confirmed = false,
    ) {
    }

    public function validate(string $attribute, mixed $value, Closure $fail): void
    {
        $outcome = $this->guard->check($value, $this->clientIp, $this->language, $this->confirmed);
        if (!$outcome->ok) {
            $fail($outcome->message ?? '');
        }
    }
}
