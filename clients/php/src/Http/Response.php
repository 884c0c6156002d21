<?php

declare(strict_types=1);

namespace Mailvet\Http;

/** @internal */
final readonly class Response
{
    /** @param string $body empty where it was written to the request's sink */
    public function __construct(public int $status, public string $body, public ?string $location)
    {
    }
}
