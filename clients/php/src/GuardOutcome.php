<?php

declare(strict_types=1);

namespace Mailvet;

use Mailvet\Model\Verification;

/** What a guard says about an address. */
final readonly class GuardOutcome implements \JsonSerializable
{
    /**
     * @param string $code `accepted`; `review`: a policy accepts it to be looked at later; `unverified`: there was no
     *     verdict. Else why it was not accepted, such as `invalid_address`, `did_you_mean` or `disposable`
     * @param string|null $email the address to store, as it was judged rather than as it was typed; null unless `ok`
     * @param string|null $message for the user; null if `ok`
     * @param string|null $suggestion an address to offer; never use it without the user's consent
     */
    public function __construct(
        public bool $ok,
        public string $code,
        public ?string $email,
        public ?string $message,
        public ?string $suggestion,
        public ?Verification $result,
    ) {
    }

    /** @return array<string, mixed> */
    public function jsonSerialize(): array
    {
        return get_object_vars($this);
    }
}
