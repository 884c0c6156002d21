<?php

declare(strict_types=1);

namespace Mailvet\Http;

use Mailvet\Upload;

/** @internal */
final readonly class Request
{
    /**
     * @param array<string, string> $headers
     * @param Upload|string|null $body an upload is sent as it is read
     * @param float|null $timeout seconds; null: no limit
     * @param resource|null $sink where the body of a 2xx reply is written; `timeout` is then that until it begins
     */
    public function __construct(
        public string $method,
        public string $url,
        public array $headers,
        public Upload|string|null $body,
        public ?float $timeout,
        public mixed $sink = null,
    ) {
    }
}
