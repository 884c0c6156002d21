<?php

declare(strict_types=1);

namespace Mailvet\Http;

use Mailvet\Upload;
use Psr\Http\Client\ClientExceptionInterface;
use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\RequestFactoryInterface;
use Psr\Http\Message\StreamFactoryInterface;

/**
 * With a PSR-18 client, whose own settings say how long a request may take: PSR-18 has none.
 *
 * @internal
 */
final readonly class PsrSender implements Sender
{
    public function __construct(
        private ClientInterface $client,
        private RequestFactoryInterface $requests,
        private StreamFactoryInterface $streams,
    ) {
    }

    public function send(Request $request): Response
    {
        $message = $this->requests->createRequest($request->method, $request->url);
        foreach ($request->headers as $name => $value) {
            $message = $message->withHeader($name, $value);
        }
        if ($request->body instanceof Upload) {
            $message = $message->withBody($this->streams->createStreamFromResource($request->body->spooled()));
        } elseif ($request->body !== null) {
            $message = $message->withBody($this->streams->createStream($request->body));
        }
        try {
            $reply = $this->client->sendRequest($message);
        } catch (ClientExceptionInterface $failure) {
            throw new NoReply($failure->getMessage(), false, $failure);
        }
        $location = $reply->hasHeader('location') ? $reply->getHeaderLine('location') : null;
        $status = $reply->getStatusCode();
        $isRead = $request->sink === null || $status >= 300;
        $text = '';
        $body = $reply->getBody();
        if ($body->isSeekable()) {
            $body->rewind();
        }
        while (!$body->eof()) {
            $piece = $body->read(65_536);
            if (!$isRead) {
                fwrite($request->sink, $piece);
            } elseif (strlen($text .= $piece) > Response::MAX_BYTES) {
                throw Response::tooLarge($status);
            }
        }
        return new Response($status, $text, $location);
    }
}
