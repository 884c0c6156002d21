<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

/** @internal */
final class EventTypes
{
    /** @var array<string, class-string<\Mailvet\Reply>> */
    public const CLASSES = [
        'list.completed' => ListCompletedEvent::class,
        'list.failed' => ListFailedEvent::class,
        'list.cancelled' => ListCancelledEvent::class,
        'credits.low' => CreditsLowEvent::class,
        'account.created' => AccountCreatedEvent::class,
        'credits.granted' => CreditsGrantedEvent::class,
        'credits.exhausted' => CreditsExhaustedEvent::class,
        'key.created' => KeyCreatedEvent::class,
        'key.revoked' => KeyRevokedEvent::class,
        'outcomes.contradiction' => ContradictionEvent::class,
        'rejections.high' => RejectionsHighEvent::class,
        'unknowns.high' => UnknownsHighEvent::class,
        'budget.low' => BudgetLowEvent::class,
        'webhook.failing' => WebhookFailingEvent::class,
        'smtp.unreachable' => SmtpUnreachableEvent::class,
        'ping' => PingEvent::class,
    ];
}
