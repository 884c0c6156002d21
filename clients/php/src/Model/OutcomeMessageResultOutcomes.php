<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class OutcomeMessageResultOutcomes extends Reply
{
    public string $email;

    /** @var 'delivered'|'bounced'|'deferred'|'complained'|string */
    public string $outcome;

    /**
     * `duplicate`: it had been reported before, and counts once.
     *
     * @var 'recorded'|'duplicate'|'error'|string
     */
    public string $result;

    /**
     * What it is evidence of: of a bounce, as its diagnostic is read. Only `delivered`, `absent`, `disabled` and
     * `full` are about the address.
     *
     * @var 'delivered'|'absent'|'disabled'|'full'|'domain'|'sender'|'unclear'|'deferred'|'complained'|string|null
     */
    public ?string $class;

    /** What is wrong with the row, in one sentence. */
    public ?string $error;

    /** Of the row. */
    public ?string $field;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('email')) {
            $this->email = $reader->text('email');
        }
        if ($reader->has('outcome')) {
            $this->outcome = $reader->text('outcome');
        }
        if ($reader->has('result')) {
            $this->result = $reader->text('result');
        }
        $this->class = $reader->has('class') ? $reader->text('class') : null;
        $this->error = $reader->has('error') ? $reader->text('error') : null;
        $this->field = $reader->has('field') ? $reader->text('field') : null;
    }
}
