<?php

declare(strict_types=1);

namespace Mailvet\Tests;

use PHPUnit\Framework\TestCase;

/** The cases of all clients: clients/README.md says how they are read. */
final class CasesTest extends TestCase
{
    private const FILE = __DIR__ . '/../../cases.json';
    /** @var list<string> */
    private static array $ran = [];

    /** @return iterable<string, array{array<string, mixed>}> */
    public static function cases(): iterable
    {
        foreach (self::all() as $case) {
            yield $case['id'] => [$case];
        }
    }

    /**
     * @param array<string, mixed> $case
     * @dataProvider cases
     */
    public function testCase(array $case): void
    {
        (new CaseRun($this, $case))->run();
        self::$ran[] = $case['id'];
    }

    /** @depends testCase */
    public function testEveryCaseRan(): void
    {
        self::assertSame(array_column(self::all(), 'id'), self::$ran);
    }

    /** @return list<array<string, mixed>> */
    private static function all(): array
    {
        return json_decode((string) file_get_contents(self::FILE), true, flags: JSON_THROW_ON_ERROR)['cases'];
    }
}
