<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class ContradictionEventData extends Reply
{
    /** How many verdicts. */
    public int $total;

    /**
     * At most 100 of them; all are in the calibration.
     *
     * @var list<Contradiction>
     */
    public array $contradictions;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('total')) {
            $this->total = $reader->integer('total');
        }
        if ($reader->has('contradictions')) {
            $this->contradictions = $reader->objects('contradictions', Contradiction::class);
        }
    }
}
