<?php

declare(strict_types=1);

namespace Mailvet;

use Mailvet\Api\SeenApi;
use Mailvet\Model\Forgotten;

/** See `Client::$seen`. */
final class Seen extends SeenApi
{
    /** Forgets one mailbox in a scope, by its address in any spelling. */
    public function forget(string $scope, string $email, ?float $timeout = null): Forgotten
    {
        // Without one the service would forget the whole scope.
        if ($email === '') {
            throw new \InvalidArgumentException('email must be an address.');
        }
        return $this->delete(['scope' => $scope, 'email' => $email], $timeout);
    }

    /** Forgets every mailbox of a scope. */
    public function forgetScope(string $scope, ?float $timeout = null): Forgotten
    {
        return $this->delete(['scope' => $scope], $timeout);
    }

    /** @param array<string, string> $query */
    private function delete(array $query, ?float $timeout): Forgotten
    {
        return new Forgotten($this->transport->send('DELETE', '/v1/seen', query: $query, timeout: $timeout));
    }
}
