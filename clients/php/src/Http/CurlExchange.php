<?php

declare(strict_types=1);

namespace Mailvet\Http;

use Mailvet\Upload;

/**
 * What cURL calls while it sends a request and receives the reply.
 *
 * @internal
 */
final class CurlExchange
{
    /** CURL_READFUNC_ABORT, which PHP has no name for. */
    private const ABORT = 0x10000000;
    public string $body = '';
    public ?string $location = null;
    public bool $isLate = false;
    /** What the caller's own source of bytes, or sink, failed with; or that the reply is too large. */
    public ?\Throwable $failure = null;
    private int $status = 0;
    private bool $hasBegun = false;
    private readonly float $begin;
    /** Read from the source, and not sent yet. */
    private string $unsent = '';
    /** @var \Iterator<mixed, string>|null */
    private readonly ?\Iterator $chunks;

    public function __construct(private readonly Request $request)
    {
        $this->begin = microtime(true);
        $this->chunks = $request->body instanceof Upload ? $request->body->chunks() : null;
    }

    public function header(\CurlHandle $handle, string $line): int
    {
        if (preg_match('~^HTTP/\S+ (\d{3})~', $line, $found) === 1) {
            $this->status = (int) $found[1];
            $this->location = null;
        } elseif (strncasecmp($line, 'location:', 9) === 0) {
            $this->location = trim(substr($line, 9));
        } elseif (trim($line) === '' && $this->status >= 200) {
            $this->hasBegun = true;
        }
        return strlen($line);
    }

    public function write(\CurlHandle $handle, string $bytes): int
    {
        if ($this->request->sink === null || $this->status >= 300) {
            if (strlen($this->body) + strlen($bytes) > Response::MAX_BYTES) {
                $this->failure = Response::tooLarge($this->status);
                return 0;
            }
            $this->body .= $bytes;
            return strlen($bytes);
        }
        for ($written = 0; $written < strlen($bytes);) {
            $more = fwrite($this->request->sink, substr($bytes, $written));
            if ($more === false || $more === 0) {
                $this->failure = new \RuntimeException('The reply could not be written.');
                return 0;
            }
            $written += $more;
        }
        return $written;
    }

    /** @param resource $file */
    public function read(\CurlHandle $handle, mixed $file, int $most): string|int
    {
        try {
            while ($this->unsent === '' && $this->chunks?->valid()) {
                $this->unsent = $this->chunks->current();
                $this->chunks->next();
            }
        } catch (\Throwable $failure) {
            $this->failure = $failure;
            return self::ABORT;
        }
        $sent = substr($this->unsent, 0, $most);
        $this->unsent = substr($this->unsent, strlen($sent));
        return $sent;
    }

    /** Anything but 0 ends the transfer. */
    public function progress(): int
    {
        $limit = $this->request->sink === null || $this->hasBegun ? null : $this->request->timeout;
        $this->isLate = $limit !== null && microtime(true) - $this->begin > $limit;
        return $this->isLate ? 1 : 0;
    }
}
