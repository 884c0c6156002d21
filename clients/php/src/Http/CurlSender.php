<?php

declare(strict_types=1);

namespace Mailvet\Http;

use Mailvet\Upload;

/**
 * With PHP's cURL extension. Keeps its connection open for the next call.
 *
 * @internal
 */
final class CurlSender implements Sender
{
    private readonly \CurlHandle $handle;

    public function __construct()
    {
        $this->handle = curl_init();
    }

    public function send(Request $request): Response
    {
        curl_reset($this->handle);
        $exchange = new CurlExchange($request);
        curl_setopt_array($this->handle, [
            CURLOPT_URL => $request->url,
            CURLOPT_CUSTOMREQUEST => $request->method,
            CURLOPT_PROTOCOLS => CURLPROTO_HTTP | CURLPROTO_HTTPS,
            CURLOPT_FOLLOWLOCATION => false,
            CURLOPT_NOSIGNAL => true,
            // Without `Expect`, which makes cURL wait for a reply before it sends a body.
            CURLOPT_HTTPHEADER => [...self::lines($request->headers), 'Expect:'],
            CURLOPT_HEADERFUNCTION => $exchange->header(...),
            CURLOPT_WRITEFUNCTION => $exchange->write(...),
            CURLOPT_NOPROGRESS => false,
            CURLOPT_XFERINFOFUNCTION => $exchange->progress(...),
        ]);
        if ($request->body instanceof Upload) {
            curl_setopt($this->handle, CURLOPT_UPLOAD, true);
            curl_setopt($this->handle, CURLOPT_READFUNCTION, $exchange->read(...));
        } elseif ($request->body !== null) {
            curl_setopt($this->handle, CURLOPT_POSTFIELDS, $request->body);
        }
        if ($request->timeout !== null && $request->sink === null) {
            curl_setopt($this->handle, CURLOPT_TIMEOUT_MS, max(1, (int) ceil($request->timeout * 1000)));
        }
        $isDone = curl_exec($this->handle);
        if ($exchange->failure !== null) {
            throw $exchange->failure;
        }
        if ($isDone === false) {
            $isLate = $exchange->isLate || curl_errno($this->handle) === CURLE_OPERATION_TIMEDOUT;
            throw new NoReply(curl_error($this->handle), $isLate);
        }
        return new Response(curl_getinfo($this->handle, CURLINFO_RESPONSE_CODE), $exchange->body, $exchange->location);
    }

    /**
     * @param array<string, string> $headers
     * @return list<string>
     */
    private static function lines(array $headers): array
    {
        $lines = [];
        foreach ($headers as $name => $value) {
            $lines[] = "$name: $value";
        }
        return $lines;
    }
}
