<?php

declare(strict_types=1);

namespace Mailvet;

use Mailvet\Http\NoReply;
use Mailvet\Http\Request;
use Mailvet\Http\Response;
use Mailvet\Http\Sender;

/**
 * Calls the service, and calls again where it asks for that.
 *
 * @internal
 */
final class Transport
{
    private readonly string $base;

    public function __construct(
        ?string $url,
        #[\SensitiveParameter] private readonly ?string $key,
        private readonly float $timeout,
        private readonly int $retries,
        private readonly Sender $sender,
    ) {
        $this->base = self::address($url);
        if ($key === null) {
            throw new \InvalidArgumentException('key is missing: set it to an API key, mv_live_… or mv_test_….');
        }
        if (preg_match('/^[\x21-\x7e]+$/D', $key) !== 1) {
            throw new \InvalidArgumentException('key must be an API key: mv_live_… or mv_test_… without spaces.');
        }
        self::checkTimeout($timeout);
        if ($retries < 0) {
            throw new \InvalidArgumentException('retries must be a whole number from 0.');
        }
    }

    /**
     * The body of a 2xx reply. An upload has no time limit but its own.
     *
     * @param array<string, mixed> $query null is left out
     * @param array<string, mixed>|null $body Omitted::Field is left out
     * @param string|null $replyField a field that every reply has: what lacks it did not come from Mailvet
     * @return array<string, mixed>
     */
    public function send(
        string $method,
        string $path,
        array $query = [],
        ?array $body = null,
        ?Upload $upload = null,
        ?string $idempotencyKey = null,
        ?float $timeout = null,
        ?string $replyField = null,
    ): array {
        $canRepeat = $this->retries > 0 && $method === 'POST' && $upload === null;
        // So that a call that is repeated takes effect once, whatever a proxy makes of it.
        $idempotencyKey ??= $canRepeat ? bin2hex(random_bytes(16)) : null;
        // cURL would send what is on further lines as other headers.
        if ($idempotencyKey !== null && preg_match('/^[\x20-\x7e]{1,255}$/D', $idempotencyKey) !== 1) {
            throw new \InvalidArgumentException('idempotencyKey must be 1 to 255 printable ASCII characters.');
        }
        if ($upload !== null && preg_match('/^[\x20-\x7e]+$/D', $upload->type) !== 1) {
            throw new \InvalidArgumentException('type must be a media type, such as text/csv.');
        }
        $headers = $this->headers($idempotencyKey);
        if ($upload !== null || $body !== null) {
            $headers['content-type'] = $upload->type ?? 'application/json';
        }
        $limit = $timeout ?? ($upload === null ? $this->timeout : null);
        $content = $upload ?? ($body === null ? null : self::encoded($body));
        $url = $this->base . $path . self::queryOf($query);
        $once = function (?float $left) use ($method, $url, $headers, $content, $replyField): array {
            $reply = $this->once(new Request($method, $url, $headers, $content, $left));
            $json = self::objectOf($reply->body);
            $isOurs = $json !== null && ($replyField === null || array_key_exists($replyField, $json));
            return $reply->status < 300 && $isOurs ? $json : throw self::refusal($reply, $json);
        };
        return $this->attempts($limit, $upload === null, $once);
    }

    /**
     * Writes the body of a 2xx reply into `to`. The time limit is that until it begins.
     *
     * @param array<string, mixed> $query
     * @param resource|null $to
     * @return resource `to`, or a temporary file that stands at its beginning
     */
    public function download(string $path, array $query = [], mixed $to = null, ?float $timeout = null): mixed
    {
        $sink = $to ?? fopen('php://temp', 'w+b');
        $url = $this->base . $path . self::queryOf($query);
        $this->attempts($timeout ?? $this->timeout, true, function (?float $left) use ($url, $sink): Response {
            $reply = $this->once(new Request('GET', $url, $this->headers(null), null, $left, $sink));
            return $reply->status < 300 ? $reply : throw self::refusal($reply, self::objectOf($reply->body));
        });
        if ($to === null && is_resource($sink)) {
            rewind($sink);
        }
        return $sink;
    }

    /**
     * @template T
     * @param callable(float|null): T $once with the seconds that are left
     * @return T
     */
    private function attempts(?float $limit, bool $mayRepeat, callable $once): mixed
    {
        if ($limit !== null) {
            self::checkTimeout($limit);
        }
        $until = $limit === null ? INF : microtime(true) + $limit;
        for ($left = $mayRepeat ? $this->retries : 0;; $left -= 1) {
            try {
                return $once($limit === null ? null : max(0.001, $until - microtime(true)));
            } catch (NoReply $failure) {
                throw self::withoutReply($failure, $limit);
            } catch (MailvetException $failure) {
                $wait = $left > 0 ? self::delayOf($failure) : null;
                if ($wait === null || microtime(true) + $wait >= $until) {
                    throw $failure;
                }
                usleep((int) ceil($wait * 1_000_000));
            }
        }
    }

    private function once(Request $request): Response
    {
        $reply = $this->sender->send($request);
        // A redirect would turn a POST into a GET, and could take the key elsewhere.
        if ($reply->status >= 300 && $reply->status < 400 && $reply->status !== 304) {
            $parts = $reply->location === null ? false : parse_url($reply->location);
            $host = is_array($parts) && isset($parts['scheme'], $parts['host'])
                ? " to {$parts['scheme']}://{$parts['host']}" . (isset($parts['port']) ? ":{$parts['port']}" : '')
                : '';
            $error = "The service answered with a redirect$host, which is not followed. Set url to the final address.";
            throw MailvetException::of($reply->status, ['error' => $error, 'code' => 'redirected']);
        }
        return $reply;
    }

    /** @param array<string, mixed>|null $json */
    private static function refusal(Response $reply, ?array $json): MailvetException
    {
        $isError = $json !== null && $reply->status >= 300;
        return $isError ? MailvetException::of($reply->status, $json) : self::foreign($reply->status);
    }

    /** The error of a reply that did not come from Mailvet. */
    public static function foreign(int $status): MailvetException
    {
        $message = "The reply (status $status) did not come from Mailvet. Check the url.";
        return MailvetException::of($status, ['error' => $message]);
    }

    private static function withoutReply(NoReply $failure, ?float $limit): MailvetException
    {
        [$code, $error] = $failure->isLate
            ? ['timeout', "The service did not answer within $limit s."]
            : [
                'unreachable',
                "The service could not be reached ({$failure->getMessage()}). Check the url, and that the service runs.",
            ];
        return MailvetException::of(0, ['error' => $error, 'code' => $code], $failure);
    }

    /**
     * Seconds to wait before a retry; null where the call must not be retried. Only errors of the service itself
     * promise that nothing was done; those of a proxy in front of it do not.
     */
    private static function delayOf(MailvetException $failure): ?float
    {
        $mayRepeat = in_array($failure->status, [429, 503], true) && $failure->requestId !== null;
        return $mayRepeat ? $failure->retryAfter : null;
    }

    /** @return array<string, string> */
    private function headers(?string $idempotencyKey): array
    {
        $headers = ['authorization' => "Bearer $this->key", 'accept' => 'application/json'];
        if ($idempotencyKey !== null) {
            $headers['idempotency-key'] = $idempotencyKey;
        }
        return $headers;
    }

    /** @param array<string, mixed> $body */
    private static function encoded(array $body): string
    {
        $given = array_filter($body, static fn (mixed $value): bool => $value !== Omitted::Field);
        // The service says what is wrong with bytes that are no UTF-8.
        $flags = JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_INVALID_UTF8_SUBSTITUTE;
        return json_encode((object) $given, $flags);
    }

    /** @param array<string, mixed> $query */
    private static function queryOf(array $query): string
    {
        $given = array_filter($query, static fn (mixed $value): bool => $value !== null);
        $textOf = static fn (mixed $value): mixed => is_bool($value) ? ($value ? 'true' : 'false') : $value;
        $texts = array_map($textOf, $given);
        return $texts === [] ? '' : '?' . http_build_query($texts, '', '&', PHP_QUERY_RFC3986);
    }

    /** @return array<string, mixed>|null */
    private static function objectOf(string $text): ?array
    {
        $value = str_starts_with(ltrim($text), '{') ? json_decode($text, true) : null;
        if (!is_array($value)) {
            return null;
        }
        $object = [];
        foreach ($value as $name => $one) {
            $object[(string) $name] = $one;
        }
        return $object;
    }

    /** Without `/v1` and slashes at its end, which paths of calls bring. */
    private static function address(?string $url): string
    {
        $example = 'such as https://verify.example.net';
        if ($url === null) {
            throw new \InvalidArgumentException("url is missing: set it to the address of the service, $example.");
        }
        $parts = parse_url($url);
        $isAddress = is_array($parts) && isset($parts['host']) && preg_match('~^https?://~i', $url) === 1;
        if (!$isAddress || isset($parts['query']) || isset($parts['fragment'])) {
            throw new \InvalidArgumentException("url must be the address of the service, $example.");
        }
        return preg_replace('~(/v1)?/*$~D', '', rtrim($url, '/')) ?? $url;
    }

    private static function checkTimeout(float $timeout): void
    {
        if (!($timeout > 0)) {
            throw new \InvalidArgumentException('timeout must be a number of seconds above 0.');
        }
    }
}
