<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

final readonly class UsageValidationTypes extends Reply
{
    public UsageValidationTypesMx $mx;

    public UsageValidationTypesSmtp $smtp;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        if ($reader->has('mx')) {
            $this->mx = $reader->object('mx', UsageValidationTypesMx::class);
        }
        if ($reader->has('smtp')) {
            $this->smtp = $reader->object('smtp', UsageValidationTypesSmtp::class);
        }
    }
}
