<?php

declare(strict_types=1);

namespace Mailvet;

/** A file for `lists->create` and `filters->import`. It is sent as it is read, once. */
final class Upload
{
    private const TYPES = [
        'csv' => 'text/csv',
        'txt' => 'text/plain',
        'tsv' => 'text/tab-separated-values',
        'jsonl' => 'application/x-ndjson',
        'ndjson' => 'application/x-ndjson',
        'json' => 'application/json',
        'xlsx' => 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    ];

    /** @param resource|iterable<string> $source */
    private function __construct(
        private readonly mixed $source,
        public readonly ?string $name,
        public readonly string $type,
    ) {
    }

    /** @param string|null $type media type; by default that of the file's extension, else `text/csv` */
    public static function fromPath(string $path, ?string $name = null, ?string $type = null): self
    {
        $stream = is_file($path) ? fopen($path, 'rb') : false;
        if ($stream === false) {
            throw new \InvalidArgumentException("The file $path cannot be read.");
        }
        return new self($stream, $name ?? basename($path), $type ?? self::typeOf($path));
    }

    /** @param resource $stream */
    public static function fromStream(mixed $stream, ?string $name = null, string $type = 'text/csv'): self
    {
        return new self($stream, $name, $type);
    }

    /** @param iterable<string> $chunks such as a generator; what it throws is thrown by the call */
    public static function fromChunks(iterable $chunks, ?string $name = null, string $type = 'text/csv'): self
    {
        return new self($chunks, $name, $type);
    }

    public static function fromString(string $content, ?string $name = null, string $type = 'text/csv'): self
    {
        return new self([$content], $name, $type);
    }

    /**
     * @internal
     * @return \Iterator<mixed, string>
     */
    public function chunks(): \Iterator
    {
        if (is_iterable($this->source)) {
            yield from $this->source;
            return;
        }
        while (!feof($this->source)) {
            $chunk = fread($this->source, 65_536);
            if ($chunk === false) {
                throw new \RuntimeException('The file could not be read to its end.');
            }
            yield $chunk;
        }
    }

    /**
     * @internal
     * @return resource
     */
    public function spooled(): mixed
    {
        if (!is_iterable($this->source)) {
            return $this->source;
        }
        $file = fopen('php://temp', 'w+b');
        if ($file === false) {
            throw new \RuntimeException('No temporary file can be opened.');
        }
        foreach ($this->source as $chunk) {
            fwrite($file, $chunk);
        }
        rewind($file);
        return $file;
    }

    private static function typeOf(string $path): string
    {
        return self::TYPES[strtolower(pathinfo($path, PATHINFO_EXTENSION))] ?? 'text/csv';
    }
}
