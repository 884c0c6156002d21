<?php

declare(strict_types=1);

namespace Mailvet;

use Mailvet\Api\PoliciesApi;

/** See `Client::$policies`. */
final class Policies extends PoliciesApi
{
}
