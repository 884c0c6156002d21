<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class ChecksFilter extends Reply
{
    public \Mailvet\Enum\CheckResult|string $result;

    /** The filter that matched. */
    public ?int $filterId;

    /**
     * What it does.
     *
     * @var 'block'|'allow'|string|null
     */
    public ?string $action;

    public ?string $filterType;

    public ?string $value;

    /** As `filter_id`, where the filter blocks. */
    public ?int $id;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('result')) {
            $this->result = $reader->choice('result', \Mailvet\Enum\CheckResult::class);
        }
        $this->filterId = $reader->has('filter_id') ? $reader->integer('filter_id') : null;
        $this->action = $reader->has('action') ? $reader->text('action') : null;
        $this->filterType = $reader->has('filter_type') ? $reader->text('filter_type') : null;
        $this->value = $reader->has('value') ? $reader->text('value') : null;
        $this->id = $reader->has('id') ? $reader->integer('id') : null;
    }
}
