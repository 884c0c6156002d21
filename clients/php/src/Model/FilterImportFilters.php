<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class FilterImportFilters extends Reply
{
    /** Line of the text, or row of the sheet. */
    public int $row;

    /** @var 'email'|'domain'|'ip_address'|'mx_host'|string */
    public string $filterType;

    /** In canonical form. */
    public string $value;

    public ?string $reason;

    /** @var 'block'|'allow'|string */
    public string $action;

    /** @var 'exact'|'mailbox'|string */
    public string $match;

    public ?string $expiresAt;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('row')) {
            $this->row = $reader->integer('row');
        }
        if ($reader->has('filter_type')) {
            $this->filterType = $reader->text('filter_type');
        }
        if ($reader->has('value')) {
            $this->value = $reader->text('value');
        }
        $this->reason = $reader->has('reason') ? $reader->text('reason') : null;
        if ($reader->has('action')) {
            $this->action = $reader->text('action');
        }
        if ($reader->has('match')) {
            $this->match = $reader->text('match');
        }
        $this->expiresAt = $reader->has('expires_at') ? $reader->text('expires_at') : null;
    }
}
