<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Api;

use Mailvet\Model;
use Mailvet\Omitted;
use Mailvet\Transport;

/** @internal what the class of the same name has without wrapping it */
abstract class PoliciesApi
{
    public function __construct(protected readonly Transport $transport)
    {
    }

    /**
     * List policies.
     *
     * @return list<Model\Policy>
     */
    public function list(
        ?float $timeout = null,
    ): array {
        return (new Model\PolicyList($this->transport->send(
            'GET',
            '/v1/policies',
            timeout: $timeout,
        )))->policies;
    }

    /**
     * Show a policy.
     *
     * @param string $name
     */
    public function get(
        string $name,
        ?float $timeout = null,
    ): Model\PolicyDetails {
        return new Model\PolicyDetails($this->transport->send(
            'GET',
            '/v1/policies/' . rawurlencode((string) $name),
            timeout: $timeout,
        ));
    }

    /**
     * Create or replace a policy. The body is the whole policy. A reply of this API can be sent back, also under
     * another name.
     *
     * @param string $name
     * @param array<string, mixed>|null $signals
     * @param 'mx'|'smtp'|null $validationType Level of the check where the request has none. Default: `mx`.
     * @param int|null $timeoutMs Time limit of the check in milliseconds, where the request has none. Default:
     * `10000`.
     * @param 'accept'|'review'|'reject'|null $onOutage What to decide where there is no verdict, because of an
     * outage, an empty balance or a limit. Default: `accept`.
     * @param array<string, mixed>|null $messages
     */
    public function put(
        string $name,
        ?array $signals = null,
        ?string $validationType = null,
        ?int $timeoutMs = null,
        ?string $onOutage = null,
        ?array $messages = null,
        ?float $timeout = null,
    ): Model\PolicyDetails {
        return new Model\PolicyDetails($this->transport->send(
            'PUT',
            '/v1/policies/' . rawurlencode((string) $name),
            body: [
                'signals' => $signals === null ? Omitted::Field : (object) $signals,
                'validation_type' => $validationType ?? Omitted::Field,
                'timeout_ms' => $timeoutMs ?? Omitted::Field,
                'on_outage' => $onOutage ?? Omitted::Field,
                'messages' => $messages === null ? Omitted::Field : (object) $messages,
            ],
            timeout: $timeout,
        ));
    }

    /**
     * Delete a policy.
     *
     * @param string $name
     */
    public function remove(
        string $name,
        ?float $timeout = null,
    ): void {
        $this->transport->send(
            'DELETE',
            '/v1/policies/' . rawurlencode((string) $name),
            timeout: $timeout,
        );
    }
}
