<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class ChecksDisposable extends Reply
{
    public \Mailvet\Enum\CheckResult|string $result;

    public string $listVersion;

    /** The list entry or mail host that matched. */
    public ?string $matched;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('result')) {
            $this->result = $reader->choice('result', \Mailvet\Enum\CheckResult::class);
        }
        if ($reader->has('list_version')) {
            $this->listVersion = $reader->text('list_version');
        }
        $this->matched = $reader->has('matched') ? $reader->text('matched') : null;
    }
}
