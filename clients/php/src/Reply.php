<?php

declare(strict_types=1);

namespace Mailvet;

/** What the service answered, or sent. */
abstract readonly class Reply implements \JsonSerializable
{
    /**
     * @param array<string, mixed> $fields as the service sent them, those included that this version does not know.
     *     The properties of a reply read them; one of a field that was not sent is not initialized.
     */
    public function __construct(public array $fields)
    {
    }

    /** @return array<string, mixed> */
    public function jsonSerialize(): array
    {
        return $this->fields;
    }
}
