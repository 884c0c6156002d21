<?php

declare(strict_types=1);

namespace Mailvet\Http;

use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\RequestFactoryInterface;
use Psr\Http\Message\StreamFactoryInterface;

/**
 * Finds what sends requests: the client that was given, else cURL, else a PSR-18 client that is installed.
 *
 * @internal
 */
final class Senders
{
    /** Factories of PSR-17 that do both. */
    private const FACTORIES = [
        \Nyholm\Psr7\Factory\Psr17Factory::class,
        \GuzzleHttp\Psr7\HttpFactory::class,
        \Slim\Psr7\Factory\RequestFactory::class,
    ];

    public static function of(
        ?ClientInterface $client,
        ?RequestFactoryInterface $requests,
        ?StreamFactoryInterface $streams,
    ): Sender {
        if ($client === null && extension_loaded('curl')) {
            return new CurlSender();
        }
        $client ??= self::discovered(\Http\Discovery\Psr18ClientDiscovery::class, 'find');
        if (!$client instanceof ClientInterface) {
            throw new \LogicException('Install ext-curl, or a PSR-18 client with php-http/discovery.');
        }
        $requests ??= self::factory($client, RequestFactoryInterface::class, 'findRequestFactory');
        $streams ??= self::factory($client, StreamFactoryInterface::class, 'findStreamFactory');
        if (!$requests instanceof RequestFactoryInterface || !$streams instanceof StreamFactoryInterface) {
            throw new \LogicException('Pass requestFactory and streamFactory, or install nyholm/psr7.');
        }
        return new PsrSender($client, $requests, $streams);
    }

    /** @param class-string $type */
    private static function factory(ClientInterface $client, string $type, string $find): ?object
    {
        // Symfony's client is one itself.
        if ($client instanceof $type) {
            return $client;
        }
        foreach (self::FACTORIES as $name) {
            if (class_exists($name) && is_a($name, $type, true)) {
                return new $name();
            }
        }
        return self::discovered(\Http\Discovery\Psr17FactoryDiscovery::class, $find);
    }

    private static function discovered(string $class, string $find): ?object
    {
        $finder = [$class, $find];
        $found = class_exists($class) && is_callable($finder) ? $finder() : null;
        return is_object($found) ? $found : null;
    }
}
