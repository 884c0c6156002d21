<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Api;

use Mailvet\Model;
use Mailvet\Omitted;
use Mailvet\Transport;

/** @internal what the class of the same name has without wrapping it */
abstract class OutcomesApi
{
    public function __construct(protected readonly Transport $transport)
    {
    }

    /**
     * Report what became of mail. Costs nothing. A row with an error does not affect the others. What was reported
     * before counts once, in whatever order it arrives.
     *
     * @param list<array<string, mixed>> $outcomes
     */
    public function report(
        array $outcomes,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
    ): Model\OutcomesResult {
        return new Model\OutcomesResult($this->transport->send(
            'POST',
            '/v1/outcomes',
            body: [
                'outcomes' => $outcomes,
            ],
            idempotencyKey: $idempotencyKey,
            timeout: $timeout,
        ));
    }
}
