<?php

declare(strict_types=1);

namespace Mailvet\Tests;

/** What the cases run against: `node clients/server.mjs`, which ends with its standard input. */
final class Stage
{
    private static ?self $only = null;
    public readonly string $url;
    /** @var resource */
    private $process;
    /** @var array<int, resource> */
    private array $pipes = [];

    private function __construct()
    {
        $node = getenv('MAILVET_NODE') ?: 'node';
        $command = [$node, dirname(__DIR__, 2) . '/server.mjs'];
        $process = proc_open($command, [['pipe', 'r'], ['pipe', 'w'], STDERR], $this->pipes);
        $line = $process === false ? false : fgets($this->pipes[1]);
        if ($process === false || $line === false) {
            throw new \RuntimeException('The services of the cases did not start.');
        }
        $this->process = $process;
        $this->url = json_decode($line, true, flags: JSON_THROW_ON_ERROR)['url'];
        register_shutdown_function(function (): void {
            fclose($this->pipes[0]);
            proc_close($this->process);
        });
    }

    public static function get(): self
    {
        return self::$only ??= new self();
    }

    /** @return array<array-key, mixed> */
    public function json(string $path): array
    {
        $url = str_starts_with($path, 'http') ? $path : "$this->url/$path";
        $text = file_get_contents($url);
        return json_decode((string) $text, true, flags: JSON_THROW_ON_ERROR);
    }
}
