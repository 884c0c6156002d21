<?php

declare(strict_types=1);

namespace Mailvet\Http;

/**
 * Sends one request and follows no redirect.
 *
 * @internal
 */
interface Sender
{
    /** @throws NoReply where the service could not be reached, or did not answer in time */
    public function send(Request $request): Response;
}
