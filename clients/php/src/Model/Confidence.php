<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

/**
 * How often mail arrives at addresses with this deliverability, reason, level and mail provider; null with fewer
 * than 50 outcomes of the account.
 */
final readonly class Confidence extends Reply
{
    /** The share of mail that did not bounce for a reason of the recipient. */
    public float $p;

    /** Of its 95 % interval. */
    public float $low;

    /** Of its 95 % interval. */
    public float $high;

    /** Verdicts that it is measured by. */
    public int $n;

    /**
     * Whose outcomes count.
     *
     * @var 'account'|string
     */
    public string $basis;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('p')) {
            $this->p = $reader->number('p');
        }
        if ($reader->has('low')) {
            $this->low = $reader->number('low');
        }
        if ($reader->has('high')) {
            $this->high = $reader->number('high');
        }
        if ($reader->has('n')) {
            $this->n = $reader->integer('n');
        }
        if ($reader->has('basis')) {
            $this->basis = $reader->text('basis');
        }
    }
}
