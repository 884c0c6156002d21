<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class UnknownsHighEventData extends Reply
{
    /** Since then. */
    public int $unknown;

    /** Of all that was asked about, from 0 to 1. */
    public float $share;

    /** Of the week before. */
    public float $usualShare;

    public string $since;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('unknown')) {
            $this->unknown = $reader->integer('unknown');
        }
        if ($reader->has('share')) {
            $this->share = $reader->number('share');
        }
        if ($reader->has('usual_share')) {
            $this->usualShare = $reader->number('usual_share');
        }
        if ($reader->has('since')) {
            $this->since = $reader->text('since');
        }
    }
}
