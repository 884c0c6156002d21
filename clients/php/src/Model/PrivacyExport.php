<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class PrivacyExport extends Reply
{
    public string $email;

    public bool $canonical;

    public string $exportedAt;

    /**
     * The rows of each table that has some, such as `verifications`, `list_blocks`, `filters`, `trail`.
     *
     * @var array<string, mixed>
     */
    public array $held;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('email')) {
            $this->email = $reader->text('email');
        }
        if ($reader->has('canonical')) {
            $this->canonical = $reader->boolean('canonical');
        }
        if ($reader->has('exported_at')) {
            $this->exportedAt = $reader->text('exported_at');
        }
        if ($reader->has('held')) {
            $this->held = $reader->map('held');
        }
    }
}
