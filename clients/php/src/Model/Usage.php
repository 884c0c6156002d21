<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class Usage extends Reply
{
    /** The name of the plan. */
    public string $plan;

    /** The calendar month, UTC. */
    public UsagePeriod $period;

    public UsageCredits $credits;

    public UsageRateLimit $rateLimit;

    public UsageStorage $storage;

    public UsageValidationTypes $validationTypes;

    /** Credits that a check costs which ends without an answer. */
    public int $unknownCredits;

    public UsageTotals $totals;

    /** @var list<UsageSeries>|null */
    public ?array $series;

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
        if ($reader->has('plan')) {
            $this->plan = $reader->text('plan');
        }
        if ($reader->has('period')) {
            $this->period = $reader->object('period', UsagePeriod::class);
        }
        if ($reader->has('credits')) {
            $this->credits = $reader->object('credits', UsageCredits::class);
        }
        if ($reader->has('rate_limit')) {
            $this->rateLimit = $reader->object('rate_limit', UsageRateLimit::class);
        }
        if ($reader->has('storage')) {
            $this->storage = $reader->object('storage', UsageStorage::class);
        }
        if ($reader->has('validation_types')) {
            $this->validationTypes = $reader->object('validation_types', UsageValidationTypes::class);
        }
        if ($reader->has('unknown_credits')) {
            $this->unknownCredits = $reader->integer('unknown_credits');
        }
        if ($reader->has('totals')) {
            $this->totals = $reader->object('totals', UsageTotals::class);
        }
        $this->series = $reader->has('series') ? $reader->objects('series', UsageSeries::class) : null;
        if ($reader->has('warnings')) {
            $this->warnings = $reader->texts('warnings');
        }
    }
}
