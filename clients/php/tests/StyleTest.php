<?php

declare(strict_types=1);

namespace Mailvet\Tests;

use PHPUnit\Framework\TestCase;

/** PSR-12, as phpcs.xml has it. Warnings do not count: older versions of phpcs do not know readonly classes. */
final class StyleTest extends TestCase
{
    public function testStyle(): void
    {
        $folder = dirname(__DIR__);
        exec('cd ' . escapeshellarg($folder) . ' && phpcs -n -q --standard=phpcs.xml 2>&1', $said, $code);
        self::assertSame(0, $code, implode("\n", $said));
    }
}
