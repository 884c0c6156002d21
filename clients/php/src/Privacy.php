<?php

declare(strict_types=1);

namespace Mailvet;

use Mailvet\Api\PrivacyApi;

/** See `Client::$privacy`. */
final class Privacy extends PrivacyApi
{
}
