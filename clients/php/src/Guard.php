<?php

declare(strict_types=1);

namespace Mailvet;

use Mailvet\Enum\Deliverability;
use Mailvet\Enum\PolicyAction;
use Mailvet\Enum\Reason;
use Mailvet\Model\Verification;
use Psr\SimpleCache\CacheInterface;

/**
 * Decides whether an address may sign up. Outages and errors of the service accept the address, unverified, so that they
 * do not stop sign-ups; what is not an address is rejected even then.
 */
final class Guard
{
    public const MESSAGES = [
        'invalid_address' => 'Enter a valid email address.',
        'did_you_mean' => 'Did you mean {suggestion}?',
        'blocked' => 'This email address cannot be used here.',
        'disposable' => 'Use a permanent email address.',
        'undeliverable' => 'This email address cannot receive mail.',
        'role' => 'Use a personal email address.',
        'catch_all' => 'This email address could not be confirmed. Use another one.',
        'unknown' => 'This email address could not be confirmed. Try again later, or use another one.',
    ];
    /** Seconds left for the way there and back, and what the service takes for a check. */
    private const TRANSFER = 1.0;
    private const SHORTEST_CHECK = 1.0;
    private const LONGEST_CHECK = 30.0;
    /** In characters: 64, an @ and 255 (RFC 5321 §4.5.3.1). What is longer is no address and need not be sent. */
    private const LONGEST_ADDRESS = 320;
    /** What the service takes; a longer one is left out, rather than the verdict. */
    private const LONGEST_LANGUAGE = 200;
    /** With brackets, port, zone and blanks. */
    private const LONGEST_FORWARDED = 100;
    /** Seconds; long enough to correct a form. */
    private const OFFERED_FOR = 900;
    private const OFFERED_MOST = 10_000;
    /** White space, zero-width characters and marks of direction, which the service drops around an address as well. */
    private const BLANK = '[\s\x{a0}\x{1680}\x{2000}-\x{200f}\x{2028}\x{2029}\x{202a}-\x{202f}\x{205f}-\x{2064}'
        . '\x{2066}-\x{2069}\x{3000}\x{feff}\x{85}\x{180e}]';
    /** Of one part between dots: without a quoted local part, and of a domain in any script. */
    private const WORD = '[^\s"(),.:;<>@[\\\\\]]+';
    private const LABEL = '[-\dA-Za-z\x{80}-\x{10ffff}]+';

    /** @var array<string, array{end: float, result: Verification}> */
    private array $offered = [];
    private readonly Client $client;
    private readonly int $checkMs;
    /** @var \Closure(\Throwable): void */
    private readonly \Closure $onError;

    /**
     * @param Client|null $client by default one for `url` and `key` with the guard's `timeout`
     * @param string|null $policy name of the policy of the account that decides, in place of all options below it but
     *     `scope`, `timeout`, `onError` and `cache`
     * @param string|null $scope your name for the place where a mailbox may count once, such as `signup`
     * @param 'mx'|'smtp'|null $validationType `mx` by default; `smtp` also asks the mail server
     * @param float $timeout seconds after which an address is accepted unverified
     * @param 'accept'|'reject'|null $disposable disposable addresses; `reject` by default
     * @param 'accept'|'reject'|null $role shared mailboxes such as `info@`; `accept` by default
     * @param 'accept'|'reject'|null $catchAll domains that accept every mailbox; `accept` by default
     * @param 'accept'|'reject'|null $unknown addresses about which a check gave no answer; `accept` by default
     * @param 'offer'|'ignore'|null $suggestions whether a likely typo is offered for correction once; `offer` by default
     * @param array<string, string>|null $messages replace those of MESSAGES; `{suggestion}` stands for the suggestion
     * @param (callable(\Throwable): void)|null $onError called where an address was accepted unverified; by default
     *     it writes to PHP's error log
     * @param CacheInterface|null $cache remembers for 15 minutes which suggestions were offered. Without it only this
     *     process does, so pass `confirmed` from the form
     */
    public function __construct(
        ?string $url = null,
        #[\SensitiveParameter] ?string $key = null,
        ?Client $client = null,
        private readonly ?string $policy = null,
        private readonly ?string $scope = null,
        private readonly ?string $validationType = null,
        float $timeout = 4.0,
        private readonly ?string $disposable = null,
        private readonly ?string $role = null,
        private readonly ?string $catchAll = null,
        private readonly ?string $unknown = null,
        private readonly ?string $suggestions = null,
        private readonly ?array $messages = null,
        ?callable $onError = null,
        private readonly ?CacheInterface $cache = null,
    ) {
        $this->checkOptions();
        $this->client = $client ?? new Client($url, $key, $timeout);
        $seconds = min(max($timeout - self::TRANSFER, self::SHORTEST_CHECK), self::LONGEST_CHECK);
        $this->checkMs = (int) ($seconds * 1000);
        $this->onError = $onError === null ? self::report(...) : $onError(...);
    }

    /**
     * @param mixed $email what the form has; what is no string is no address
     * @param string|null $clientIp the user's IP address, which filters match, as a framework or a proxy reports it:
     *     with a port, or a list as in X-Forwarded-For, whose first address counts
     * @param string|null $language of the messages of a policy: a tag, or the user's Accept-Language header
     * @param bool $confirmed the user has seen the suggestion and keeps the address
     */
    public function check(
        mixed $email,
        ?string $clientIp = null,
        ?string $language = null,
        bool $confirmed = false,
    ): GuardOutcome {
        $address = is_string($email) && mb_check_encoding($email, 'UTF-8') ? self::trimmed($email) : '';
        if ($address === '' || mb_strlen($address) > self::LONGEST_ADDRESS) {
            return $this->rejected('invalid_address');
        }
        $remembered = $this->recall($address);
        $mayAccept = $confirmed || $this->suggestions === 'ignore' || $remembered !== null;
        try {
            // What was remembered at the first attempt would be seen at the second.
            $result = $mayAccept && $this->scope !== null ? $remembered : null;
            $result ??= $this->verify($address, self::addressIn($clientIp), $language);
            return $this->policy === null
                ? $this->judge($result, $address, $mayAccept)
                : $this->follow($result, $mayAccept);
        } catch (\Throwable $failure) {
            return $this->withoutVerdict($failure, $address);
        }
    }

    private function verify(string $email, ?string $clientIp, ?string $language): Verification
    {
        $language = $language !== '' && strlen($language ?? '') <= self::LONGEST_LANGUAGE ? $language : null;
        $ask = fn (?string $from): Verification => $this->client->verify(
            $email,
            validationType: $this->policy === null ? $this->validationType ?? 'mx' : null,
            clientIp: $from,
            timeoutMs: $this->checkMs,
            scope: $this->scope,
            policy: $this->policy,
            language: $this->policy === null ? null : $language,
        );
        try {
            return $ask($clientIp);
        } catch (MailvetException $failure) {
            // Without the address of the user rather than without a verdict.
            if ($clientIp !== null && self::rejectedField($failure) === 'client_ip') {
                return $ask(null);
            }
            throw $failure;
        }
    }

    private function judge(Verification $result, string $email, bool $mayAccept): GuardOutcome
    {
        if ($result->didYouMean !== null && !$mayAccept) {
            $this->remember($email, $result);
            return $this->rejected('did_you_mean', $result);
        }
        $code = $this->rejectionOf($result);
        return $code === null
            ? new GuardOutcome(true, 'accepted', $result->normalizedEmail ?? $email, null, null, $result)
            : $this->rejected($code, $result);
    }

    private function rejectionOf(Verification $result): ?string
    {
        return match (true) {
            $result->reason === Reason::InvalidFormat => 'invalid_address',
            $result->reason === Reason::BlockedByFilter => 'blocked',
            $result->isDisposable && $this->disposable !== 'accept' => 'disposable',
            $result->deliverability === Deliverability::Undeliverable => 'undeliverable',
            $result->isRole === true && $this->role === 'reject' => 'role',
            $result->isCatchAll === true && $this->catchAll === 'reject' => 'catch_all',
            // Without a reason, the mailbox was not asked for: `mx` says nothing about it.
            $result->deliverability === Deliverability::Unknown && $result->reason !== null
                && $this->unknown === 'reject' => 'unknown',
            default => null,
        };
    }

    /** As the policy says. A typo to be reviewed is offered for correction first, as without a policy. */
    private function follow(Verification $result, bool $mayAccept): GuardOutcome
    {
        // A service of an earlier version does not know the field.
        $decision = $result->decision
            ?? throw new \UnexpectedValueException("The reply has no decision of the policy $this->policy.");
        $stored = $result->normalizedEmail ?? $result->email;
        $suggestion = $result->didYouMean;
        if ($decision->action === PolicyAction::Accept) {
            return new GuardOutcome(true, 'accepted', $stored, null, null, $result);
        }
        $isOffer = $decision->action === PolicyAction::Review && $suggestion !== null && !$mayAccept
            && in_array('typo', $decision->because, true);
        if ($isOffer) {
            $this->remember($result->email, $result);
        } elseif ($decision->action === PolicyAction::Review) {
            return new GuardOutcome(true, 'review', $stored, null, null, $result);
        }
        $code = $isOffer ? 'did_you_mean' : self::codeOf($decision->because[0] ?? 'unknown', $result);
        return new GuardOutcome(false, $code, null, $decision->message ?? '', $suggestion, $result);
    }

    /** Codes of a policy's grounds; a ground of a later version is its own code. */
    private static function codeOf(string $ground, Verification $result): string
    {
        return match (true) {
            $ground === 'typo' => 'did_you_mean',
            $ground !== 'undeliverable' => $ground,
            $result->reason === Reason::InvalidFormat => 'invalid_address',
            $result->reason === Reason::BlockedByFilter => 'blocked',
            default => $ground,
        };
    }

    /** Without a verdict: as the policy says, where the service could tell; else the address is accepted. */
    private function withoutVerdict(\Throwable $failure, string $email): GuardOutcome
    {
        $unverified = self::rejectedField($failure) === 'email' ? null : self::plausible($email);
        if ($unverified === null) {
            return $this->rejected('invalid_address');
        }
        ($this->onError)($failure);
        $decision = $failure instanceof MailvetException ? $failure->details['decision'] ?? null : null;
        $action = is_array($decision) ? $decision['action'] ?? null : null;
        if ($action === 'reject') {
            $message = is_array($decision) ? $decision['message'] ?? '' : '';
            return new GuardOutcome(false, 'outage', null, is_string($message) ? $message : '', null, null);
        }
        return new GuardOutcome(true, $action === 'review' ? 'review' : 'unverified', $unverified, null, null, null);
    }

    private function rejected(string $code, ?Verification $result = null): GuardOutcome
    {
        $suggestion = $result?->didYouMean;
        $message = $this->messages[$code] ?? self::MESSAGES[$code] ?? '';
        $said = str_replace('{suggestion}', $suggestion ?? '', $message);
        return new GuardOutcome(false, $code, null, $said, $suggestion, $result);
    }

    private static function trimmed(string $text): string
    {
        return preg_replace('/^' . self::BLANK . '+|' . self::BLANK . '+$/Du', '', $text) ?? $text;
    }

    /**
     * For want of a verdict: the address to store, its domain in lower-case ASCII (UTS 46) where the extension intl or
     * its polyfill is there. Null only for what the service would never take for an address.
     */
    private static function plausible(string $email): ?string
    {
        $at = (int) strrpos($email, '@');
        [$local, $domain] = [substr($email, 0, $at), substr($email, $at + 1)];
        $pattern = '/^("[\s\S]*"|' . self::WORD . '(\.' . self::WORD . ')*)@(?=[\s\S]*[.\x{80}-\x{10ffff}])'
            . self::LABEL . '(\.' . self::LABEL . ')*$/Du';
        if (preg_match($pattern, $email) !== 1 || preg_match('/[\p{Cc}\p{Cf}\p{Co}\p{Cs}]/u', $local) === 1) {
            return null;
        }
        if (preg_match('/^[\x20-\x7e]*$/D', $domain) === 1) {
            return $local . '@' . strtolower($domain);
        }
        if (!function_exists('idn_to_ascii')) {
            return $local . '@' . mb_strtolower($domain);
        }
        $ascii = idn_to_ascii($domain, IDNA_NONTRANSITIONAL_TO_ASCII, INTL_IDNA_VARIANT_UTS46);
        return is_string($ascii) ? "$local@$ascii" : null;
    }

    /** The field that the service could not take. */
    private static function rejectedField(\Throwable $failure): ?string
    {
        return $failure instanceof MailvetException && $failure->status === 400 ? $failure->field : null;
    }

    private static function report(\Throwable $failure): void
    {
        $code = $failure instanceof MailvetException ? $failure->errorCode : 'error';
        error_log("mailvet: an address was accepted unverified ($code): {$failure->getMessage()}");
    }

    /**
     * The first address of a list such as X-Forwarded-For, without port, brackets and zone; null where it cannot be
     * one. The service judges it, so this need not be exact.
     */
    private static function addressIn(?string $text): ?string
    {
        $first = explode(',', $text ?? '', 2)[0];
        // Anybody may send such a header.
        if (strlen($first) > self::LONGEST_FORWARDED) {
            return null;
        }
        $address = preg_replace(
            ['/^"|"$/D', '/^\[([^\]]*)\](:\d+)?$/D', '/^([\d.]+):\d+$/D', '/%.*$/Ds'],
            ['', '$1', '$1', ''],
            trim($first),
        ) ?? '';
        $isAddress = preg_match('/^(\d{1,3}(\.\d{1,3}){3}|[\da-f:.]*:[\da-f:.]*)$/Di', $address) === 1;
        return $isAddress && strlen($address) <= 45 ? $address : null;
    }

    /** What was said about an address whose suggestion was offered: whoever sends it again keeps it. */
    private function recall(string $email): ?Verification
    {
        $name = self::nameOf($email);
        $found = $this->offered[$name] ?? null;
        if ($found !== null) {
            return $found['end'] > microtime(true) ? $found['result'] : null;
        }
        try {
            $stored = $this->cache?->get($name);
        } catch (\Throwable $failure) {
            ($this->onError)($failure);
            return null;
        }
        $fields = is_string($stored) ? json_decode($stored, true) : null;
        return is_array($fields) ? new Verification($fields) : null;
    }

    private function remember(string $email, Verification $result): void
    {
        $name = self::nameOf($email);
        // In the order of their ends, as all last equally long.
        unset($this->offered[$name]);
        while (count($this->offered) >= self::OFFERED_MOST) {
            unset($this->offered[array_key_first($this->offered)]);
        }
        $this->offered[$name] = ['end' => microtime(true) + self::OFFERED_FOR, 'result' => $result];
        try {
            $this->cache?->set($name, json_encode($result, JSON_THROW_ON_ERROR), self::OFFERED_FOR);
        } catch (\Throwable $failure) {
            ($this->onError)($failure);
        }
    }

    /** Keys of PSR-16 have no `@`, and the cache need not hold addresses by name. */
    private static function nameOf(string $email): string
    {
        return 'mailvet.offered.' . hash('sha256', mb_strtolower($email));
    }

    private function checkOptions(): void
    {
        $either = [
            'validationType' => ['mx', 'smtp'],
            'disposable' => ['accept', 'reject'],
            'role' => ['accept', 'reject'],
            'catchAll' => ['accept', 'reject'],
            'unknown' => ['accept', 'reject'],
            'suggestions' => ['offer', 'ignore'],
        ];
        foreach ($either as $name => $values) {
            if ($this->$name !== null && !in_array($this->$name, $values, true)) {
                throw new \InvalidArgumentException("$name must be '$values[0]' or '$values[1]'.");
            }
        }
        if ($this->scope !== null && preg_match('/^[a-z0-9_.-]{1,64}$/D', $this->scope) !== 1) {
            throw new \InvalidArgumentException('scope must be a short name of a to z, 0 to 9, "_", "." and "-".');
        }
        if ($this->policy === '') {
            throw new \InvalidArgumentException('policy must be the name of a policy.');
        }
        foreach ([...array_keys($either), 'messages'] as $name) {
            if ($this->policy !== null && $this->$name !== null) {
                throw new \InvalidArgumentException(
                    "policy and $name cannot be combined: the policy says it, in the dashboard or the API.",
                );
            }
        }
        foreach (array_keys($this->messages ?? []) as $code) {
            if (!isset(self::MESSAGES[$code])) {
                $codes = implode(', ', array_keys(self::MESSAGES));
                throw new \InvalidArgumentException("messages has no code $code; it has $codes.");
            }
        }
    }
}
