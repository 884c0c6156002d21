<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class AddressList extends Reply
{
    public string $id;

    public string $name;

    /** @var 'ready'|'running'|'paused'|'completed'|'cancelled'|'failed'|string */
    public string $status;

    /** @var 'mx'|'smtp'|string */
    public string $validationType;

    /** Name of the policy that decides, as it was at the upload. */
    public ?string $policy;

    /**
     * Which rows count as duplicates, as in the upload.
     *
     * @var 'address'|'mailbox'|string
     */
    public string $dedupe;

    public RowsOfList $rows;

    public ListProgress $progress;

    public ListDeliverability $deliverability;

    /** @var array<string, int> */
    public array $byReason;

    public ListCredits $credits;

    /** How the file was read. Null: it has no such thing, or a version before did not keep it. */
    public ListRead $read;

    /**
     * What may be wrong with how the file was read; and, as `unknown_field`, with the request.
     *
     * @var list<ListWarnings>
     */
    public array $warnings;

    public ?ListError $error;

    /** How long deferred addresses are tried again. */
    public int $retryMinutes;

    /** The earlier name of `retry_minutes`. */
    public int $patienceMinutes;

    public string $createdAt;

    public ?string $startedAt;

    public ?string $finishedAt;

    /** When the list and its results are deleted. */
    public string $expiresAt;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('id')) {
            $this->id = $reader->text('id');
        }
        if ($reader->has('name')) {
            $this->name = $reader->text('name');
        }
        if ($reader->has('status')) {
            $this->status = $reader->text('status');
        }
        if ($reader->has('validation_type')) {
            $this->validationType = $reader->text('validation_type');
        }
        $this->policy = $reader->has('policy') ? $reader->text('policy') : null;
        if ($reader->has('dedupe')) {
            $this->dedupe = $reader->text('dedupe');
        }
        if ($reader->has('rows')) {
            $this->rows = $reader->object('rows', RowsOfList::class);
        }
        if ($reader->has('progress')) {
            $this->progress = $reader->object('progress', ListProgress::class);
        }
        if ($reader->has('deliverability')) {
            $this->deliverability = $reader->object('deliverability', ListDeliverability::class);
        }
        if ($reader->has('by_reason')) {
            $this->byReason = $reader->integersByName('by_reason');
        }
        if ($reader->has('credits')) {
            $this->credits = $reader->object('credits', ListCredits::class);
        }
        if ($reader->has('read')) {
            $this->read = $reader->object('read', ListRead::class);
        }
        if ($reader->has('warnings')) {
            $this->warnings = $reader->objects('warnings', ListWarnings::class);
        }
        $this->error = $reader->has('error') ? $reader->object('error', ListError::class) : null;
        if ($reader->has('retry_minutes')) {
            $this->retryMinutes = $reader->integer('retry_minutes');
        }
        if ($reader->has('patience_minutes')) {
            $this->patienceMinutes = $reader->integer('patience_minutes');
        }
        if ($reader->has('created_at')) {
            $this->createdAt = $reader->text('created_at');
        }
        $this->startedAt = $reader->has('started_at') ? $reader->text('started_at') : null;
        $this->finishedAt = $reader->has('finished_at') ? $reader->text('finished_at') : null;
        if ($reader->has('expires_at')) {
            $this->expiresAt = $reader->text('expires_at');
        }
    }
}
