<?php

declare(strict_types=1);

namespace Mailvet\Http;

use Mailvet\MailvetException;

/** @internal */
final readonly class Response
{
    /** Of a body that is read into memory. The clients in all languages have the same limit. */
    public const MAX_BYTES = 32 * 1024 * 1024;

    /** @param string $body empty where it was written to the request's sink */
    public function __construct(public int $status, public string $body, public ?string $location)
    {
    }

    public static function tooLarge(int $status): MailvetException
    {
        $error = "The reply (status $status) is larger than 32 MiB, and was not read to its end.";
        return MailvetException::of($status, ['error' => $error, 'code' => 'reply_too_large']);
    }
}
