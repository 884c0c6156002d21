<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class Checks extends Reply
{
    public ChecksSyntax $syntax;

    public ChecksFilter $filter;

    public ChecksDisposable $disposable;

    public ChecksDomain $domain;

    public ChecksMx $mx;

    public ChecksSmtp $smtp;

    public ChecksCatchAll $catchAll;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('syntax')) {
            $this->syntax = $reader->object('syntax', ChecksSyntax::class);
        }
        if ($reader->has('filter')) {
            $this->filter = $reader->object('filter', ChecksFilter::class);
        }
        if ($reader->has('disposable')) {
            $this->disposable = $reader->object('disposable', ChecksDisposable::class);
        }
        if ($reader->has('domain')) {
            $this->domain = $reader->object('domain', ChecksDomain::class);
        }
        if ($reader->has('mx')) {
            $this->mx = $reader->object('mx', ChecksMx::class);
        }
        if ($reader->has('smtp')) {
            $this->smtp = $reader->object('smtp', ChecksSmtp::class);
        }
        if ($reader->has('catch_all')) {
            $this->catchAll = $reader->object('catch_all', ChecksCatchAll::class);
        }
    }
}
