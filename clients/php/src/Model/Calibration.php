<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class Calibration extends Reply
{
    /**
     * By deliverability, reason, level and mail provider; the most frequent first.
     *
     * @var list<CalibratedVerdict>
     */
    public array $verdicts;

    /**
     * What replies predicted, beside what came of it: by tenths of their confidence, ascending.
     *
     * @var list<Reliability>
     */
    public array $reliability;

    /**
     * Verdicts that the outcome contradicts, the newest first; at most 100.
     *
     * @var list<ListedContradiction>
     */
    public array $contradictions;

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
        if ($reader->has('verdicts')) {
            $this->verdicts = $reader->objects('verdicts', CalibratedVerdict::class);
        }
        if ($reader->has('reliability')) {
            $this->reliability = $reader->objects('reliability', Reliability::class);
        }
        if ($reader->has('contradictions')) {
            $this->contradictions = $reader->objects('contradictions', ListedContradiction::class);
        }
        if ($reader->has('warnings')) {
            $this->warnings = $reader->texts('warnings');
        }
    }
}
