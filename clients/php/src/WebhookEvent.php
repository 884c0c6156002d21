<?php

declare(strict_types=1);

namespace Mailvet;

/** An event of a type that this version does not know. */
final readonly class WebhookEvent extends Reply
{
}
