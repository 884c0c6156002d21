<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Api;

use Mailvet\Model;
use Mailvet\Omitted;
use Mailvet\Transport;

/** @internal what the class of the same name has without wrapping it */
abstract class PrivacyApi
{
    public function __construct(protected readonly Transport $transport)
    {
    }

    /**
     * Export what is held about an address. The document is sent as it is made. One that breaks off is not valid
     * JSON.
     *
     * @param string $email Without regard to case.
     * @param bool|null $canonical All spellings of the mailbox, as `canonical_email` compares them, not this
     * address alone. Default: `false`.
     */
    public function export(
        string $email,
        ?bool $canonical = null,
        ?float $timeout = null,
    ): Model\PrivacyExport {
        return new Model\PrivacyExport($this->transport->send(
            'POST',
            '/v1/privacy/export',
            body: [
                'email' => $email,
                'canonical' => $canonical ?? Omitted::Field,
            ],
            timeout: $timeout,
        ));
    }

    /**
     * Erase what is held about an address. Counters and charges remain. A large log and large lists take a while,
     * as all of them are searched.
     *
     * @param string $email Without regard to case.
     * @param bool|null $canonical All spellings of the mailbox, as `canonical_email` compares them, not this
     * address alone. Default: `false`.
     * @param bool|null $filters Remove filters of the address as well, so that it is no longer blocked or allowed.
     * Default: `false`.
     */
    public function erase(
        string $email,
        ?bool $canonical = null,
        ?bool $filters = null,
        ?float $timeout = null,
    ): Model\PrivacyErased {
        return new Model\PrivacyErased($this->transport->send(
            'POST',
            '/v1/privacy/erase',
            body: [
                'email' => $email,
                'canonical' => $canonical ?? Omitted::Field,
                'filters' => $filters ?? Omitted::Field,
            ],
            timeout: $timeout,
        ));
    }
}
