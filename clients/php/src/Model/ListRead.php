<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Model;

use Mailvet\Fields;
use Mailvet\Reply;

/** How the file was read. Null: it has no such thing, or a version before did not keep it. */
final readonly class ListRead extends Reply
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

    /** The main one with addresses. */
    public string $column;

    /**
     * Those whose addresses are verified, the main one first.
     *
     * @var list<string>
     */
    public array $columns;

    /**
     * Whose addresses are not verified.
     *
     * @var list<ListReadOtherAddressColumns>
     */
    public array $otherAddressColumns;

    public ListReadAddressesPerRow $addressesPerRow;

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
        if ($reader->has('column')) {
            $this->column = $reader->text('column');
        }
        if ($reader->has('columns')) {
            $this->columns = $reader->texts('columns');
        }
        if ($reader->has('other_address_columns')) {
            $this->otherAddressColumns = $reader->objects('other_address_columns', ListReadOtherAddressColumns::class);
        }
        if ($reader->has('addresses_per_row')) {
            $this->addressesPerRow = $reader->object('addresses_per_row', ListReadAddressesPerRow::class);
        }
    }
}
