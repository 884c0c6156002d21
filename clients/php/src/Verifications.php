<?php

declare(strict_types=1);

namespace Mailvet;

use Mailvet\Api\VerificationsApi;

/** See `Client::$verifications`. */
final class Verifications extends VerificationsApi
{
}
