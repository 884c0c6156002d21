<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

/** What the policy of the request says of the verdict; null without a policy. */
final readonly class Decision extends Reply
{
    public \Mailvet\Enum\PolicyAction|string $action;

    /**
     * The signals that the policy answers with this action. Later versions may add some.
     *
     * @var
     * list<'undeliverable'|'disposable'|'relay'|'role'|'free'|'catch_all'|'unknown'|'full'|'typo'|'tag'|'seen_before'|'outage'|string>
     */
    public array $because;

    /** For the person who entered the address; null where it is accepted. */
    public ?string $message;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('action')) {
            $this->action = $reader->choice('action', \Mailvet\Enum\PolicyAction::class);
        }
        if ($reader->has('because')) {
            $this->because = $reader->texts('because');
        }
        $this->message = $reader->has('message') ? $reader->text('message') : null;
    }
}
