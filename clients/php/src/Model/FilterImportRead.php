<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

/** How the file was read. */
final readonly class FilterImportRead extends Reply
{
    /**
     * As detected.
     *
     * @var
     * 'csv'|'tsv'|'text'|'ndjson'|'json'|'vcard'|'ldif'|'xlsx'|'xlsb'|'xls'|'ods'|'spreadsheetml'|'html'|string|null
     */
    public ?string $format;

    /** Between the cells of a row. */
    public ?string $delimiter;

    public ?string $encoding;

    /** Of a workbook. */
    public ?string $sheet;

    /** Of an archive. */
    public ?string $entry;

    /** Row of the file with the names of the columns; 0: none. */
    public ?int $headerRow;

    /** @var list<FilterImportReadColumns> */
    public array $columns;

    /** @param array<string, mixed> $fields as the service sent them; what this version does not know is kept */
    public function __construct(array $fields)
    {
        parent::__construct($fields);
        $reader = new Fields($fields);
        $this->format = $reader->has('format') ? $reader->text('format') : null;
        $this->delimiter = $reader->has('delimiter') ? $reader->text('delimiter') : null;
        $this->encoding = $reader->has('encoding') ? $reader->text('encoding') : null;
        $this->sheet = $reader->has('sheet') ? $reader->text('sheet') : null;
        $this->entry = $reader->has('entry') ? $reader->text('entry') : null;
        $this->headerRow = $reader->has('header_row') ? $reader->integer('header_row') : null;
        if ($reader->has('columns')) {
            $this->columns = $reader->objects('columns', FilterImportReadColumns::class);
        }
    }
}
