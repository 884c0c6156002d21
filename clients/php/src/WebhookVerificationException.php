<?php

declare(strict_types=1);

namespace Mailvet;

/** A request that did not come from Mailvet, or that came too late. Reply with 400. */
final class WebhookVerificationException extends \RuntimeException
{
}
