<?php

declare(strict_types=1);

namespace Mailvet;

use Mailvet\Exception\ByCode;

/**
 * A call that failed. The service's errors have a class each in `Mailvet\Exception`, named after their code; an error
 * that this version does not know is a plain MailvetException.
 */
class MailvetException extends \RuntimeException
{
    /**
     * @param int $status HTTP status; 0 where there was no reply
     * @param string $errorCode stable; `unreachable`, `timeout`, `redirected` and `unexpected_reply` are the client's own
     * @param string|null $field the parameter that caused the error
     * @param float|null $retryAfter seconds to wait before a retry
     * @param string|null $requestId the id of the request in the service's log
     * @param array<string, mixed> $details the whole body of the error
     */
    final public function __construct(
        string $message,
        public readonly int $status,
        public readonly string $errorCode,
        public readonly ?string $field,
        public readonly ?float $retryAfter,
        public readonly ?string $requestId,
        public readonly array $details,
        ?\Throwable $previous = null,
    ) {
        parent::__construct($message, $status, $previous);
    }

    /** @param array<string, mixed> $details */
    public static function of(int $status, array $details, ?\Throwable $previous = null): self
    {
        $code = self::text($details, 'code') ?? 'unexpected_reply';
        $class = ByCode::CLASSES[$code] ?? self::class;
        $wait = $details['retry_after'] ?? null;
        return new $class(
            self::text($details, 'error') ?? "Status $status without an error message.",
            $status,
            $code,
            self::text($details, 'field'),
            (is_int($wait) || is_float($wait)) && $wait >= 0 ? (float) $wait : null,
            self::text($details, 'request_id'),
            $details,
            $previous,
        );
    }

    /** @param array<string, mixed> $details */
    private static function text(array $details, string $name): ?string
    {
        $value = $details[$name] ?? null;
        return is_string($value) && $value !== '' ? $value : null;
    }
}
