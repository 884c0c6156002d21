<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Exception;

use Mailvet\MailvetException;

/** `unsupported_media_type`: Set the header `Content-Type: application/json`. */
final class UnsupportedMediaTypeException extends MailvetException
{
}
