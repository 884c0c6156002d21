<?php

declare(strict_types=1);

namespace Mailvet;

use Mailvet\Api\WebhooksApi;

/** See `Client::$webhooks`. */
final class Webhooks extends WebhooksApi
{
}
