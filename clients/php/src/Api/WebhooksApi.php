<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Api;

use Mailvet\Model;
use Mailvet\Omitted;
use Mailvet\Transport;

/** @internal what the class of the same name has without wrapping it */
abstract class WebhooksApi
{
    public function __construct(protected readonly Transport $transport)
    {
    }

    /**
     * Create a webhook.
     *
     * @param string $url https, with a host that has a public address. Redirects are not followed.
     * @param
     * list<'list.completed'|'list.failed'|'list.cancelled'|'credits.low'|'account.created'|'credits.granted'|'credits.exhausted'|'key.created'|'key.revoked'|'outcomes.contradiction'|'rejections.high'|'unknowns.high'|'budget.low'|'webhook.failing'|'smtp.unreachable'|'ping'|'*'>
     * $events
     * @param 'events'|'slack'|null $format Default: `events`.
     * @param string|null|Omitted $description
     */
    public function create(
        string $url,
        array $events,
        ?string $format = null,
        string|null|Omitted $description = Omitted::Field,
        ?float $timeout = null,
    ): Model\WebhookCreated {
        return new Model\WebhookCreated($this->transport->send(
            'POST',
            '/v1/webhooks',
            body: [
                'url' => $url,
                'events' => $events,
                'format' => $format ?? Omitted::Field,
                'description' => $description,
            ],
            timeout: $timeout,
        ));
    }

    /**
     * List webhooks, oldest first.
     *
     * @return list<Model\Webhook>
     */
    public function list(
        ?float $timeout = null,
    ): array {
        return (new Model\WebhookList($this->transport->send(
            'GET',
            '/v1/webhooks',
            timeout: $timeout,
        )))->webhooks;
    }

    /**
     * Get a webhook.
     *
     * @param string $id
     */
    public function get(
        string $id,
        ?float $timeout = null,
    ): Model\WebhookDetails {
        return new Model\WebhookDetails($this->transport->send(
            'GET',
            '/v1/webhooks/' . rawurlencode((string) $id),
            timeout: $timeout,
        ));
    }

    /**
     * Change a webhook.
     *
     * @param string $id
     * @param string|null $url https, with a host that has a public address. Redirects are not followed.
     * @param
     * list<'list.completed'|'list.failed'|'list.cancelled'|'credits.low'|'account.created'|'credits.granted'|'credits.exhausted'|'key.created'|'key.revoked'|'outcomes.contradiction'|'rejections.high'|'unknowns.high'|'budget.low'|'webhook.failing'|'smtp.unreachable'|'ping'|'*'>|null
     * $events
     * @param string|null|Omitted $description
     * @param bool|null $enabled A webhook that is disabled gets no events; what was to be sent to it has failed.
     */
    public function change(
        string $id,
        ?string $url = null,
        ?array $events = null,
        string|null|Omitted $description = Omitted::Field,
        ?bool $enabled = null,
        ?float $timeout = null,
    ): Model\WebhookDetails {
        return new Model\WebhookDetails($this->transport->send(
            'PATCH',
            '/v1/webhooks/' . rawurlencode((string) $id),
            body: [
                'url' => $url ?? Omitted::Field,
                'events' => $events ?? Omitted::Field,
                'description' => $description,
                'enabled' => $enabled ?? Omitted::Field,
            ],
            timeout: $timeout,
        ));
    }

    /**
     * Delete a webhook.
     *
     * @param string $id
     */
    public function remove(
        string $id,
        ?float $timeout = null,
    ): void {
        $this->transport->send(
            'DELETE',
            '/v1/webhooks/' . rawurlencode((string) $id),
            timeout: $timeout,
        );
    }

    /**
     * Replace the secret of a webhook.
     *
     * @param string $id
     */
    public function rotateSecret(
        string $id,
        ?float $timeout = null,
    ): Model\WebhookCreated {
        return new Model\WebhookCreated($this->transport->send(
            'POST',
            '/v1/webhooks/' . rawurlencode((string) $id) . '/rotate-secret',
            timeout: $timeout,
        ));
    }

    /**
     * Send a ping now.
     *
     * @param string $id
     */
    public function test(
        string $id,
        ?float $timeout = null,
    ): Model\DeliveryDetails {
        return new Model\DeliveryDetails($this->transport->send(
            'POST',
            '/v1/webhooks/' . rawurlencode((string) $id) . '/test',
            timeout: $timeout,
        ));
    }

    /**
     * List deliveries of a webhook, newest first.
     *
     * @param string $id
     * @param int|null $page
     * @param int|null $perPage
     */
    public function deliveries(
        string $id,
        ?int $page = null,
        ?int $perPage = null,
        ?float $timeout = null,
    ): Model\Deliveries {
        return new Model\Deliveries($this->transport->send(
            'GET',
            '/v1/webhooks/' . rawurlencode((string) $id) . '/deliveries',
            query: [
                'page' => $page,
                'per_page' => $perPage,
            ],
            timeout: $timeout,
        ));
    }

    /**
     * Send an event again.
     *
     * @param string $id
     */
    public function replay(
        string $id,
        ?float $timeout = null,
    ): Model\DeliveryDetails {
        return new Model\DeliveryDetails($this->transport->send(
            'POST',
            '/v1/deliveries/' . rawurlencode((string) $id) . '/replay',
            timeout: $timeout,
        ));
    }
}
