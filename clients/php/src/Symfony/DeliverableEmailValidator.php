<?php

declare(strict_types=1);

namespace Mailvet\Symfony;

use Mailvet\Guard;
use Symfony\Component\HttpFoundation\RequestStack;
use Symfony\Component\Validator\Constraint;
use Symfony\Component\Validator\ConstraintValidator;
use Symfony\Component\Validator\Exception\UnexpectedTypeException;

/** As a service, so that the guard is injected. Blank values are left to `NotBlank`, as Symfony's own constraints do. */
final class DeliverableEmailValidator extends ConstraintValidator
{
    public function __construct(private readonly Guard $guard, private readonly ?RequestStack $requests = null)
    {
    }

    public function validate(mixed $value, Constraint $constraint): void
    {
        if (!$constraint instanceof DeliverableEmail) {
            throw new UnexpectedTypeException($constraint, DeliverableEmail::class);
        }
        if ($value === null || $value === '') {
            return;
        }
        $request = $this->requests?->getCurrentRequest();
        $outcome = $this->guard->check(
            $value,
            clientIp: $request?->getClientIp(),
            language: $request?->headers->get('accept-language'),
        );
        if (!$outcome->ok) {
            $this->context->buildViolation($outcome->message ?? '')->setCode($outcome->code)->addViolation();
        }
    }
}
