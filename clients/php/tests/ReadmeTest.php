<?php

declare(strict_types=1);

namespace Mailvet\Tests;

use Mailvet\Client;
use PHPUnit\Framework\TestCase;

/** What the pages about the client show, run as it stands there. A comment is what the lines before it print. */
final class ReadmeTest extends TestCase
{
    private string $folder;
    /** @var array<string, string> */
    private array $environment;

    protected function setUp(): void
    {
        $this->folder = sys_get_temp_dir() . '/mailvet-readme-' . bin2hex(random_bytes(6));
        mkdir($this->folder);
        $values = Stage::get()->json('cases/verify');
        $this->environment = ['MAILVET_URL' => $values['url'], 'MAILVET_KEY' => $values['key']];
    }

    protected function tearDown(): void
    {
        exec('rm -r ' . escapeshellarg($this->folder));
    }

    /** @return iterable<string, array{string}> */
    public static function samples(): iterable
    {
        foreach (['clients/php/README.md', 'docs/clients.md', 'docs/policies.md', 'README.md'] as $page) {
            foreach (self::blocks('php', $page) as $section => $block) {
                if (!str_contains($block, 'php://input')) {
                    yield "$page, $section" => [$block];
                }
            }
        }
    }

    /** @dataProvider samples */
    public function testSample(string $block): void
    {
        file_put_contents("$this->folder/people.csv", "Email\njane@good.com\nsomeone@mailinator.com\n");
        preg_match_all('~^ *// (.+)$~m', $block, $expected);
        self::assertNotSame([], $expected[1]);
        self::assertSame(implode("\n", $expected[1]) . "\n", $this->php($this->script($block)));
        $results = "$this->folder/people.results.csv";
        self::assertSame(str_contains($block, 'people.results.csv'), is_file($results));
    }

    public function testQuickstart(): void
    {
        $block = iterator_to_array(self::blocks('php', 'docs/quickstart.md'))['Protect a sign-up form'];
        $this->environment['MAILVET_TEST_KEY'] = Stage::get()->json('cases/guard-accepts')['key'];
        $here = str_replace('http://127.0.0.1:8025', $this->environment['MAILVET_URL'], $block);
        $calls = 'echo json_encode([$checked(" Ada@EXAMPLE.com", "203.0.113.7"), $checked("disposable_domain@example.com")]);';
        self::assertSame(
            '[{"email":"Ada@example.com"},{"message":"Use a permanent email address."}]',
            $this->php($this->script("$here\n$calls")),
        );
    }

    public function testReceivesWebhooks(): void
    {
        $block = iterator_to_array(self::blocks('php', 'clients/php/README.md'))['Receive a webhook'];
        self::assertSame($block, iterator_to_array(self::blocks('php', 'docs/clients.md'))['Receive a webhook']);
        self::assertSame($block, iterator_to_array(self::blocks('php', 'docs/webhooks.md'))['Receive']);
        $port = self::freePort();
        $client = new Client($this->environment['MAILVET_URL'], $this->environment['MAILVET_KEY']);
        $webhook = $client->webhooks->create("http://127.0.0.1:$port/", ['ping']);
        $log = "$this->folder/server.log";
        $server = proc_open(
            [PHP_BINARY, '-S', "127.0.0.1:$port", $this->script($block)],
            [1 => ['file', $log, 'a'], 2 => ['file', $log, 'a']],
            $pipes,
            env_vars: ['MAILVET_WEBHOOK_SECRET' => $webhook->secret],
        );
        self::assertIsResource($server);
        try {
            $status = fn (): ?int => $client->webhooks->test($webhook->id)->attempts[0]->status;
            self::assertSame(200, $this->eventually($status));
            self::assertStringContainsString('ping', (string) file_get_contents($log));
            $json = ['header' => 'content-type: application/json', 'content' => '{}'];
            $forged = ['http' => ['method' => 'POST', ...$json, 'ignore_errors' => true]];
            file_get_contents("http://127.0.0.1:$port/", false, stream_context_create($forged));
            self::assertStringContainsString('400', $http_response_header[0]);
        } finally {
            proc_terminate($server);
            proc_close($server);
        }
    }

    public function testInstalls(): void
    {
        $commands = self::blocks('sh', 'clients/php/README.md')->current();
        self::assertSame($commands, self::blocks('sh', 'docs/clients.md', '[PHP]')->current());
        mkdir("$this->folder/mailvet");
        symlink(dirname(__DIR__, 2), "$this->folder/mailvet/clients");
        mkdir("$this->folder/project");
        // Composer's own registry is not asked: the package requires no other.
        file_put_contents("$this->folder/project/composer.json", '{"repositories": {"packagist.org": false}}');
        $quiet = 'export COMPOSER_ALLOW_SUPERUSER=1 COMPOSER_HOME=' . escapeshellarg("$this->folder/home") . "\n";
        $in = 'cd ' . escapeshellarg("$this->folder/project") . "\n";
        exec("sh -ec " . escapeshellarg($quiet . $in . $commands) . ' 2>&1', $said, $code);
        self::assertSame(0, $code, implode("\n", $said));
        $script = "$this->folder/project/use.php";
        file_put_contents($script, '<?php require "vendor/autoload.php"; echo Mailvet\Enum\Status::Good->value;');
        self::assertSame('good', $this->php($script));
    }

    /** @return \Generator<string, string> blocks of a language by their section */
    private static function blocks(string $language, string $page, ?string $tab = null): \Generator
    {
        $text = (string) file_get_contents(dirname(__DIR__, 3) . "/$page");
        $title = $tab === null ? '(?: \[[^]]*\])?' : ' ' . preg_quote($tab, '~');
        foreach (explode("\n## ", $text) as $section) {
            if (preg_match("~^```$language$title\n(.*?)^```~ms", $section, $found) === 1) {
                yield strtok($section, "\n") => $found[1];
            }
        }
    }

    private function script(string $block): string
    {
        $script = "$this->folder/sample.php";
        $bootstrap = var_export(__DIR__ . '/bootstrap.php', true);
        file_put_contents($script, preg_replace('/^use /m', "require $bootstrap;\n\\0", "<?php\n\n$block", 1));
        return $script;
    }

    private function php(string $script): string
    {
        $command = [PHP_BINARY, '-d', 'display_errors=stderr', $script];
        $output = [1 => ['pipe', 'w'], 2 => ['file', "$this->folder/errors.log", 'a']];
        $process = proc_open($command, $output, $pipes, dirname($script), $this->environment);
        self::assertIsResource($process);
        $said = (string) stream_get_contents($pipes[1]);
        self::assertSame(0, proc_close($process), (string) file_get_contents("$this->folder/errors.log"));
        return $said;
    }

    private static function freePort(): int
    {
        $socket = stream_socket_server('tcp://127.0.0.1:0');
        self::assertIsResource($socket);
        $port = (int) substr(strrchr((string) stream_socket_get_name($socket, false), ':'), 1);
        fclose($socket);
        return $port;
    }

    /** The server of PHP needs a moment to listen. */
    private function eventually(callable $look): mixed
    {
        for ($left = 100;; $left -= 1) {
            $found = $look();
            if ($found !== null || $left === 0) {
                return $found;
            }
            usleep(100_000);
        }
    }
}
