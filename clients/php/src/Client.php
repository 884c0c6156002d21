<?php

declare(strict_types=1);

namespace Mailvet;

use Mailvet\Api\ClientApi;
use Mailvet\Http\Senders;
use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\RequestFactoryInterface;
use Psr\Http\Message\StreamFactoryInterface;

/**
 * A client for one service and one key. Calls throw MailvetException. That an address is bad is a result, not an
 * exception.
 */
final class Client extends ClientApi
{
    /** Verifications of the log; the key needs the scope `log`. */
    public readonly Verifications $verifications;
    /** Mailboxes that `verify` was told to remember in a `scope`. */
    public readonly Seen $seen;
    /** What became of mail. */
    public readonly Outcomes $outcomes;
    public readonly Filters $filters;
    public readonly Lists $lists;
    public readonly Policies $policies;
    public readonly Privacy $privacy;
    public readonly Webhooks $webhooks;

    /**
     * @param string|null $url where the service is, such as `https://verify.example.net`; null, as a variable of the
     *     environment may be, throws InvalidArgumentException, like a `key` of null
     * @param string|null $key `mv_live_…`, or `mv_test_…` for test mode
     * @param float $timeout seconds for one call, retries included; a check may take 30 seconds
     * @param int $retries how often a call is sent again after 429 or 503, each time after the delay that the service
     *     asks for. Such a call was not charged
     * @param ClientInterface|null $httpClient in place of cURL; its own settings limit the time of a request
     */
    public function __construct(
        ?string $url,
        #[\SensitiveParameter] ?string $key,
        float $timeout = 35.0,
        int $retries = 0,
        ?ClientInterface $httpClient = null,
        ?RequestFactoryInterface $requestFactory = null,
        ?StreamFactoryInterface $streamFactory = null,
    ) {
        $sender = Senders::of($httpClient, $requestFactory, $streamFactory);
        parent::__construct(new Transport($url, $key, $timeout, $retries, $sender));
        $this->verifications = new Verifications($this->transport);
        $this->seen = new Seen($this->transport);
        $this->outcomes = new Outcomes($this->transport);
        $this->filters = new Filters($this->transport);
        $this->lists = new Lists($this->transport);
        $this->policies = new Policies($this->transport);
        $this->privacy = new Privacy($this->transport);
        $this->webhooks = new Webhooks($this->transport);
    }
}
