<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class OutcomeMessageResult extends Reply
{
    /**
     * Outcomes of the recipients that it names.
     *
     * @var list<OutcomeMessageResultOutcomes>
     */
    public array $outcomes;

    /**
     * What of it counts as nothing.
     *
     * @var list<OutcomeMessageResultDisregarded>
     */
    public array $disregarded;

    /**
     * What the request has that is unknown, or changes nothing.
     *
     * @var list<string>
     */
    public array $warnings;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('outcomes')) {
            $this->outcomes = $reader->objects('outcomes', OutcomeMessageResultOutcomes::class);
        }
        if ($reader->has('disregarded')) {
            $this->disregarded = $reader->objects('disregarded', OutcomeMessageResultDisregarded::class);
        }
        if ($reader->has('warnings')) {
            $this->warnings = $reader->texts('warnings');
        }
    }
}
