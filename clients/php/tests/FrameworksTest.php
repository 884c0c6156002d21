<?php

declare(strict_types=1);

namespace Mailvet\Tests;

use Illuminate\Translation\ArrayLoader;
use Illuminate\Translation\Translator;
use Illuminate\Validation\Validator;
use Mailvet\Client;
use Mailvet\Guard;
use Mailvet\Laravel\DeliverableEmail as LaravelRule;
use Mailvet\MailvetException;
use Mailvet\Symfony\DeliverableEmail;
use Mailvet\Symfony\DeliverableEmailValidator;
use Mailvet\Upload;
use PHPUnit\Framework\TestCase;
use Symfony\Component\HttpClient\Psr18Client;
use Symfony\Component\HttpFoundation\Request;
use Symfony\Component\HttpFoundation\RequestStack;
use Symfony\Component\Validator\ContainerConstraintValidatorFactory;
use Symfony\Component\Validator\Validation;

/** The guard in Laravel and Symfony, its memory in a cache, and the client with another HTTP client. */
final class FrameworksTest extends TestCase
{
    /** @var array<string, mixed> */
    private array $values;

    protected function setUp(): void
    {
        $this->values = Stage::get()->json('cases/guard-accepts');
    }

    public function testLaravelRule(): void
    {
        $rule = new LaravelRule($this->guard());
        $validate = fn (string $email): Validator => new Validator(
            new Translator(new ArrayLoader(), 'en'),
            ['email' => $email],
            ['email' => [fn (string $name, mixed $value, \Closure $fail) => $rule->validate($name, $value, $fail)]],
        );
        self::assertSame(
            ['Use a permanent email address.'],
            $validate('disposable_domain@example.com')->errors()->get('email'),
        );
        self::assertTrue($validate('ada@example.com')->passes());
    }

    public function testSymfonyConstraint(): void
    {
        $requests = new RequestStack();
        $requests->push(Request::create('/', server: ['REMOTE_ADDR' => '203.0.113.7']));
        $container = new ArrayContainer([
            DeliverableEmailValidator::class => new DeliverableEmailValidator($this->guard(), $requests),
        ]);
        $validator = Validation::createValidatorBuilder()
            ->setConstraintValidatorFactory(new ContainerConstraintValidatorFactory($container))
            ->getValidator();
        $violations = $validator->validate('disposable_domain@example.com', new DeliverableEmail());
        self::assertCount(1, $violations);
        self::assertSame('Use a permanent email address.', $violations[0]->getMessage());
        self::assertSame('disposable', $violations[0]->getCode());
        self::assertCount(0, $validator->validate('ada@example.com', new DeliverableEmail()));
        self::assertCount(0, $validator->validate(null, new DeliverableEmail()));
    }

    public function testRemembersOffersInACache(): void
    {
        $cache = new ArrayCache();
        $first = $this->guard(cache: $cache)->check('typo_alive@example.com');
        self::assertSame('did_you_mean', $first->code);
        self::assertTrue($this->guard(cache: $cache)->check('TYPO_alive@example.com')->ok);
        self::assertSame('did_you_mean', $this->guard(cache: new ArrayCache())->check('typo_alive@example.com')->code);
        self::assertStringNotContainsString('typo_alive', implode(' ', array_keys($cache->items)));
    }

    public function testAPsr18Client(): void
    {
        $client = new Client($this->values['url'], $this->values['key'], httpClient: new Psr18Client());
        self::assertSame('bad', $client->verify('undeliverable@example.com')->status->value);
        $list = $client->lists->create(Upload::fromChunks(["Email\nada@exam", "ple.com\n"], 'people.csv'), start: false);
        self::assertSame(['people.csv', 1], [$list->name, $list->rows->addresses]);
        self::assertStringContainsString('ada@example.com', (string) stream_get_contents($client->lists->results($list->id)));
        $unreachable = new Client('http://127.0.0.1:9', 'mv_test_nobody', httpClient: new Psr18Client());
        try {
            $unreachable->usage();
            self::fail('Nothing listens there.');
        } catch (MailvetException $failure) {
            self::assertSame('unreachable', $failure->errorCode);
        }
    }

    private function guard(?ArrayCache $cache = null): Guard
    {
        $onError = static fn (\Throwable $failure) => throw $failure;
        return new Guard($this->values['url'], $this->values['key'], timeout: 30, onError: $onError, cache: $cache);
    }
}
