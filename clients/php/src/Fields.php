<?php

declare(strict_types=1);

namespace Mailvet;

/**
 * Reads the fields of a reply with their types. A field of another type did not come from Mailvet, or from a later
 * version: it throws UnexpectedReplyException.
 *
 * @internal
 */
final readonly class Fields
{
    /** @param array<string, mixed> $fields */
    public function __construct(private array $fields)
    {
    }

    /** Whether the field is there and not null. */
    public function has(string $name): bool
    {
        return isset($this->fields[$name]);
    }

    public function any(string $name): mixed
    {
        return $this->fields[$name] ?? null;
    }

    public function text(string $name): string
    {
        $value = $this->any($name);
        return is_string($value) ? $value : throw self::unexpected($name);
    }

    public function integer(string $name): int
    {
        $value = $this->any($name);
        return is_int($value) ? $value : throw self::unexpected($name);
    }

    public function number(string $name): float
    {
        $value = $this->any($name);
        return is_int($value) || is_float($value) ? (float) $value : throw self::unexpected($name);
    }

    public function boolean(string $name): bool
    {
        $value = $this->any($name);
        return is_bool($value) ? $value : throw self::unexpected($name);
    }

    /**
     * A value that this version does not know stays a string.
     *
     * @template T of \BackedEnum
     * @param class-string<T> $enum
     * @return T|string
     */
    public function choice(string $name, string $enum): \BackedEnum|string
    {
        $value = $this->text($name);
        return $enum::tryFrom($value) ?? $value;
    }

    /**
     * @template T of Reply
     * @param class-string<T> $class
     * @return T
     */
    public function object(string $name, string $class): Reply
    {
        return new $class($this->map($name));
    }

    /** @return list<mixed> */
    public function items(string $name): array
    {
        $value = $this->any($name);
        return is_array($value) && array_is_list($value) ? $value : throw self::unexpected($name);
    }

    /** @return list<string> */
    public function texts(string $name): array
    {
        return array_map(
            static fn (mixed $value): string => is_string($value) ? $value : throw self::unexpected($name),
            $this->items($name),
        );
    }

    /**
     * @template T of Reply
     * @param class-string<T> $class
     * @return list<T>
     */
    public function objects(string $name, string $class): array
    {
        return array_map(
            static fn (mixed $value): Reply => new $class(self::named($value, $name)),
            $this->items($name),
        );
    }

    /** @return array<string, mixed> */
    public function map(string $name): array
    {
        return self::named($this->any($name), $name);
    }

    /** @return array<string, string> */
    public function textsByName(string $name): array
    {
        return array_map(
            static fn (mixed $value): string => is_string($value) ? $value : throw self::unexpected($name),
            $this->map($name),
        );
    }

    /** @return array<string, int> */
    public function integersByName(string $name): array
    {
        return array_map(
            static fn (mixed $value): int => is_int($value) ? $value : throw self::unexpected($name),
            $this->map($name),
        );
    }

    /** @return array<string, mixed> */
    private static function named(mixed $value, string $name): array
    {
        if (!is_array($value)) {
            throw self::unexpected($name);
        }
        $named = [];
        foreach ($value as $key => $one) {
            $named[(string) $key] = $one;
        }
        return $named;
    }

    private static function unexpected(string $name): MailvetException
    {
        return MailvetException::of(200, [
            'error' => "The field $name of the reply has another type than this version of the client expects.",
            'code' => 'unexpected_reply',
        ]);
    }
}
