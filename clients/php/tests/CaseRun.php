<?php

declare(strict_types=1);

namespace Mailvet\Tests;

use Mailvet\Client;
use Mailvet\Guard;
use Mailvet\MailvetException;
use Mailvet\Upload;
use Mailvet\Webhook;
use Mailvet\WebhookVerificationException;
use PHPUnit\Framework\Assert;
use PHPUnit\Framework\TestCase;

/** One case: what it prepares, calls and expects. */
final class CaseRun
{
    /** @var array<string, mixed> */
    private array $values;
    /** @var list<string> */
    private array $reported = [];
    /** @var array<string, mixed> what `$same` of a name was */
    private array $same = [];
    private ?Guard $guard = null;
    private int $looks = 0;

    /** @param array<string, mixed> $case */
    public function __construct(private readonly TestCase $test, private readonly array $case)
    {
        $this->values = Stage::get()->json("cases/{$case['id']}");
    }

    public function run(): void
    {
        foreach ($this->case['steps'] as $n => $step) {
            $this->looks = 0;
            $this->reported = [];
            $where = sprintf('%s, step %d, %s', $this->case['id'], $n + 1, $step['call']);
            $this->take($step, $where);
            if (isset($step['reported'])) {
                Assert::assertSame($step['reported'], $this->reported, $where);
            }
        }
        if (isset($this->case['requests'])) {
            $this->expect($this->case['requests'], $this->requests(), "{$this->case['id']}, requests");
        }
    }

    /** @param array<string, mixed> $step */
    private function take(array $step, string $where): void
    {
        $outcome = $this->outcomeOf($step['call'], $this->filled($step['arguments'] ?? []));
        foreach (['misuse', 'forged'] as $name) {
            if (isset($step[$name])) {
                Assert::assertSame([$name], array_keys($outcome), "$where: " . json_encode($outcome));
                Assert::assertMatchesRegularExpression("\x01{$step[$name]}\x01u", $outcome[$name], $where);
            }
        }
        foreach (['reply', 'error', 'fails'] as $name) {
            if (array_key_exists($name, $step)) {
                Assert::assertSame([$name], array_keys($outcome), "$where: " . json_encode($outcome));
                $this->expect($this->filled($step[$name]), $outcome[$name], $where);
            }
        }
        if (isset($step['looks'])) {
            $this->expect($step['looks'], $this->looks, $where);
        }
        foreach ($step['save'] ?? [] as $name => $field) {
            $this->values[$name] = $outcome['reply'][$field];
        }
    }

    /**
     * @param array<string, mixed> $arguments
     * @return array<string, mixed> what came of the call, in the words of the cases
     */
    private function outcomeOf(string $call, array $arguments): array
    {
        try {
            return ['reply' => self::plain($this->perform($call, $arguments))];
        } catch (MailvetException $failure) {
            return ['error' => [
                'status' => $failure->status,
                'code' => $failure->errorCode,
                'message' => $failure->getMessage(),
                'field' => $failure->field,
                'retry_after' => $failure->retryAfter,
                'request_id' => $failure->requestId,
                'details' => $failure->details,
                'text' => (string) $failure . json_encode($failure->details),
            ]];
        } catch (WebhookVerificationException $failure) {
            return ['forged' => $failure->getMessage()];
        } catch (\InvalidArgumentException $failure) {
            return ['misuse' => $failure->getMessage()];
        } catch (\RangeException $failure) {
            return ['fails' => $failure->getMessage()];
        }
    }

    /** @param array<string, mixed> $arguments */
    private function perform(string $call, array $arguments): mixed
    {
        if (isset($arguments['timeout_ms']) && $call !== 'policies.put') {
            $arguments['timeout'] = $arguments['timeout_ms'] / 1000;
            unset($arguments['timeout_ms']);
        }
        if (isset($arguments['interval_ms'])) {
            $arguments['interval'] = $arguments['interval_ms'] / 1000;
            unset($arguments['interval_ms']);
        }
        if ($call === 'guard') {
            return $this->guard()->check(...self::named($arguments));
        }
        if ($call === 'verify_webhook') {
            return $this->verifyWebhook($arguments);
        }
        $client = $this->client();
        if ($call === 'client') {
            return [];
        }
        if (isset($arguments['source'])) {
            $arguments['source'] = self::source($arguments['source'], $arguments['type'] ?? 'text/csv');
            unset($arguments['type']);
        }
        [$group, $name] = str_contains($call, '.') ? explode('.', $call) : [null, $call];
        return $this->call($group === null ? $client : $client->$group, $call, self::camel($name), $arguments);
    }

    /** @param array<string, mixed> $arguments */
    private function call(object $on, string $call, string $method, array $arguments): mixed
    {
        // The client takes the id of a list, and further options of an upload as an array.
        if (isset($arguments['list'])) {
            $list = $arguments['list'];
            $arguments = ['id' => is_array($list) ? $list['id'] : $list] + $arguments;
            unset($arguments['list']);
        }
        if ($call === 'webhooks.replay') {
            $arguments = ['id' => $arguments['delivery']];
        }
        if ($call === 'lists.wait') {
            $arguments['onProgress'] = function (): void {
                $this->looks += 1;
            };
        }
        $rest = ['lists.create' => 'options', 'lists.results' => 'options', 'filters.import' => 'read'][$call] ?? null;
        if ($rest !== null) {
            $known = array_map(
                static fn (\ReflectionParameter $one): string => $one->getName(),
                (new \ReflectionMethod($on, $method))->getParameters(),
            );
            foreach ($arguments as $name => $value) {
                if (!in_array(self::camel($name), $known, true)) {
                    $arguments[$rest][$name] = $value;
                    unset($arguments[$name]);
                }
            }
        }
        return $on->$method(...self::named($arguments));
    }

    /** @param array<string, mixed> $source */
    private static function source(array $source, string $type): mixed
    {
        if (isset($source['addresses'])) {
            return $source['addresses'];
        }
        if (isset($source['file'])) {
            ['name' => $name, 'type' => $own, 'text' => $text] = $source['file'];
            return Upload::fromString($text, $name, $own === '' ? $type : $own);
        }
        return Upload::fromChunks((static function () use ($source): \Generator {
            yield from $source['stream'];
            if (isset($source['fails'])) {
                throw new \RangeException($source['fails']);
            }
        })(), type: $type);
    }

    /** @param array<string, mixed> $arguments */
    private function verifyWebhook(array $arguments): mixed
    {
        if (isset($arguments['received'])) {
            $request = $this->requests()[$arguments['received']];
            $arguments += ['payload' => $request['body'], 'headers' => $request['headers']];
            unset($arguments['received']);
        }
        return Webhook::verify(...self::named($arguments));
    }

    private function client(): Client
    {
        $options = $this->options();
        return new Client(...self::named($options));
    }

    private function guard(): Guard
    {
        $options = $this->filled($this->case['guard'] ?? []);
        if (isset($options['timeout_ms'])) {
            $options['timeout'] = $options['timeout_ms'] / 1000;
            unset($options['timeout_ms']);
        }
        ['url' => $url, 'key' => $key] = $this->options();
        return $this->guard ??= new Guard(...self::named([
            'url' => $url,
            'key' => $key,
            ...$options,
            'onError' => function (\Throwable $failure): void {
                $this->reported[] = $failure instanceof MailvetException
                    ? $failure->errorCode
                    : $failure->getMessage();
            },
        ]));
    }

    /** @return array<string, mixed> */
    private function options(): array
    {
        $options = $this->filled(['url' => '{{url}}', 'key' => '{{key}}', ...($this->case['client'] ?? [])]);
        if (isset($options['timeout_ms'])) {
            $options['timeout'] = $options['timeout_ms'] / 1000;
            unset($options['timeout_ms']);
        }
        return $options;
    }

    /** @return list<array<string, mixed>> */
    private function requests(): array
    {
        return Stage::get()->json($this->values['requests']);
    }

    /** `{{name}}` alone is the value itself; within a text it is its text. */
    private function filled(mixed $value): mixed
    {
        if (is_array($value)) {
            return array_map($this->filled(...), $value);
        }
        if (!is_string($value)) {
            return $value;
        }
        if (preg_match('/^\{\{(\w+)\}\}$/D', $value, $found) === 1) {
            return $this->values[$found[1]];
        }
        $textOf = fn (array $one): string => (string) $this->values[$one[1]];
        return preg_replace_callback('/\{\{(\w+)\}\}/', $textOf, $value);
    }

    private function expect(mixed $expected, mixed $actual, string $where): void
    {
        Assert::assertNull($this->difference($expected, $actual, $where));
    }

    /** Why `actual` is not what the case expects; null where it is. */
    private function difference(mixed $expected, mixed $actual, string $path): ?string
    {
        $differs = "$path: " . json_encode($actual) . ' instead of ' . json_encode($expected);
        if (!is_array($expected)) {
            $isSame = $expected === $actual || (is_int($expected) && $actual === (float) $expected);
            return $isSame ? null : $differs;
        }
        $isList = $expected !== [] && array_is_list($expected);
        if ($isList && (!is_array($actual) || count($actual) !== count($expected))) {
            return $differs;
        }
        foreach ($expected as $name => $one) {
            if (is_string($name) && str_starts_with($name, '$')) {
                if (!$this->matches($name, $one, $actual)) {
                    return $differs;
                }
                continue;
            }
            if (!is_array($actual)) {
                return $differs;
            }
            $value = array_key_exists($name, $actual) ? $actual[$name] : Absent::Field;
            $found = $this->difference($one, $value, "$path.$name");
            if ($found !== null) {
                return $found;
            }
        }
        return null;
    }

    private function matches(string $matcher, mixed $by, mixed $actual): bool
    {
        if ($matcher === '$same' && !array_key_exists($by, $this->same)) {
            $this->same[$by] = $actual;
        }
        return match ($matcher) {
            '$matches' => is_string($actual) && preg_match("\x01$by\x01u", $actual) === 1,
            '$lacks' => is_string($actual) && !str_contains($actual, $by),
            '$above' => $actual > $by,
            '$absent' => $actual === Absent::Field,
            '$json' => $this->difference($by, json_decode($actual, true), '') === null,
            '$same' => $this->same[$by] === $actual,
        };
    }

    /** As JSON has it. */
    private static function plain(mixed $value): mixed
    {
        if (is_resource($value)) {
            return stream_get_contents($value);
        }
        if ($value instanceof \Generator) {
            return array_map(self::plain(...), iterator_to_array($value, false));
        }
        return json_decode(json_encode($value, JSON_THROW_ON_ERROR), true);
    }

    /**
     * @param array<string, mixed> $arguments
     * @return array<string, mixed>
     */
    private static function named(array $arguments): array
    {
        return array_combine(array_map(self::camel(...), array_keys($arguments)), $arguments);
    }

    private static function camel(string $name): string
    {
        return lcfirst(str_replace('_', '', ucwords($name, '_')));
    }
}
