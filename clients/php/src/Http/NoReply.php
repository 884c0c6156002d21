<?php

declare(strict_types=1);

namespace Mailvet\Http;

/** @internal */
final class NoReply extends \RuntimeException
{
    public function __construct(string $message, public readonly bool $isLate, ?\Throwable $previous = null)
    {
        parent::__construct($message, 0, $previous);
    }
}
