<?php

declare(strict_types=1);

namespace Mailvet\Symfony;

use Symfony\Component\Validator\Constraint;

/** A constraint for an address: violated where the guard rejects it, with the guard's message. */
#[\Attribute(\Attribute::TARGET_PROPERTY | \Attribute::TARGET_METHOD | \Attribute::IS_REPEATABLE)]
final class DeliverableEmail extends Constraint
{
    public function validatedBy(): string
    {
        return DeliverableEmailValidator::class;
    }
}
