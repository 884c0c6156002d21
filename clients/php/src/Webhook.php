<?php

declare(strict_types=1);

namespace Mailvet;

use Mailvet\Model\EventTypes;

/** Webhooks that a service sent (Standard Webhooks). */
final class Webhook
{
    /** Standard Webhooks recommends five minutes. */
    private const TOLERANCE_SECONDS = 300;
    private const SECRET_PREFIX = 'whsec_';
    /** The version of the signature with a shared secret. */
    private const SCHEME = 'v1,';

    /**
     * Verifies a webhook and returns its event, as the class of its type in `Mailvet\Model`.
     *
     * @param string $payload the body as it arrived, such as `file_get_contents('php://input')`
     * @param array<string, mixed> $headers by name in any case, such as `getallheaders()`, `$_SERVER` or those of PSR-7
     * @param string|list<string> $secret that of the webhook, `whsec_…`; several while it is rotated
     * @throws WebhookVerificationException where no signature fits or the time is off
     */
    public static function verify(
        string $payload,
        array $headers,
        #[\SensitiveParameter] string|array $secret,
        int $toleranceSeconds = self::TOLERANCE_SECONDS,
    ): Reply {
        $id = self::header($headers, 'webhook-id');
        $timestamp = self::header($headers, 'webhook-timestamp');
        $signatures = explode(' ', self::header($headers, 'webhook-signature'));
        if (preg_match('/^\d{1,12}$/D', $timestamp) !== 1) {
            throw new WebhookVerificationException('webhook-timestamp is not a Unix time.');
        }
        $fits = false;
        foreach ((array) $secret as $one) {
            $expected = hash_hmac('sha256', "$id.$timestamp.$payload", self::keyOf($one), true);
            foreach ($signatures as $signature) {
                $given = str_starts_with($signature, self::SCHEME)
                    ? base64_decode(substr($signature, strlen(self::SCHEME)), true)
                    : false;
                $fits = ($given !== false && hash_equals($expected, $given)) || $fits;
            }
        }
        if (!$fits) {
            throw new WebhookVerificationException('No signature fits the secret.');
        }
        // After the signature, so that the answer tells nothing to others.
        if (abs(time() - (int) $timestamp) > $toleranceSeconds) {
            throw new WebhookVerificationException('webhook-timestamp is too old or too new. Check the clock.');
        }
        return self::event($payload);
    }

    private static function event(string $payload): Reply
    {
        $event = json_decode($payload, true, flags: JSON_THROW_ON_ERROR);
        $fields = [];
        foreach (is_array($event) ? $event : [] as $name => $value) {
            $fields[(string) $name] = $value;
        }
        $type = $fields['type'] ?? null;
        $class = is_string($type) ? EventTypes::CLASSES[$type] ?? WebhookEvent::class : WebhookEvent::class;
        return new $class($fields);
    }

    /** @param array<string, mixed> $headers */
    private static function header(array $headers, string $name): string
    {
        foreach ($headers as $given => $value) {
            $plain = preg_replace('/^http-/', '', strtr(strtolower($given), '_', '-'));
            // Of a header that came more than once, only signatures may have several values, with spaces between them.
            $text = is_array($value) ? implode(' ', array_filter($value, is_string(...))) : $value;
            if ($plain === $name && is_string($text) && $text !== '') {
                return $text;
            }
        }
        throw new WebhookVerificationException("The header $name is missing.");
    }

    private static function keyOf(#[\SensitiveParameter] string $secret): string
    {
        $key = str_starts_with($secret, self::SECRET_PREFIX)
            ? base64_decode(substr($secret, strlen(self::SECRET_PREFIX)), true)
            : false;
        if ($key === false || $key === '') {
            throw new \InvalidArgumentException('secret must be the secret of a webhook: whsec_….');
        }
        return $key;
    }
}
