import { Alert, Box, NativeSelect, Text, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { DELIMITERS } from '../../../../src/kernel/facts/lists.ts';
import { api, unwrap } from '../../api/client.ts';
import type { ListHere, ListPatch } from '../../api/schema.ts';
import { useAccount } from '../../api/session.ts';
import { ErrorAlert } from '../../parts/error-alert.tsx';
import { formatNumber, pluralize } from '../../parts/format.ts';
import { Panel } from '../../parts/panel.tsx';
import { QueryResult } from '../../parts/query-result.tsx';
import { useAsyncAction } from '../../parts/use-async-action.ts';
import { escapeInvisible } from '../../parts/verdict/escape-invisible.ts';
import { columnLabel } from './column-label.ts';
import css from './lists.module.css';
import { listsKey, previewQuery } from './queries.ts';

type Choice = ListPatch['read'];
type ChosenColumns = NonNullable<Choice['columns']> | null;

const FORMATS: Readonly<Record<string, string>> = {
  csv: 'CSV',
  tsv: 'TSV',
  text: 'Plain text',
  ndjson: 'JSON Lines',
  json: 'JSON',
  xlsx: 'XLSX',
};
/** Those that lists come in; whatever else was found stands there as well. */
const ENCODINGS = [
  ...['utf-8', 'utf-16le', 'utf-16be', 'windows-1252', 'windows-1250', 'windows-1251', 'windows-1253', 'windows-1254'],
  ...['iso-8859-2', 'iso-8859-15', 'koi8-r', 'macintosh', 'shift_jis', 'euc-jp', 'gb18030', 'big5', 'euc-kr'],
];
const DETECTED = { value: '', label: 'Detected' };

/** How the file was read, with its first rows; all of it can be changed, and rows and price follow. */
export function ReadPanel({ of }: { of: ListHere }) {
  const { id: account } = useAccount();
  const query = useQuery(previewQuery(account, of.id));
  const { choice, busy, error, change } = useReading(of);
  const { rows, read } = of;
  const facts = [
    pluralize(rows.total, 'row'),
    ...(read.format === null ? [] : [FORMATS[read.format] ?? read.format]),
    `an address in ${formatNumber(rows.total - rows.blank - rows.unreadable)}`,
    pluralize(rows.addresses + rows.duplicates, 'address', 'addresses'),
  ];
  return (
    <Panel
      title="How the file was read"
      flush
      footer={
        <Text size="sm" role="status">
          {busy ? 'Reading the file again…' : `${facts.join(', ')}. Other columns come back unchanged.`}
        </Text>
      }
    >
      <fieldset className={css.reading} disabled={busy || !of.has_file} aria-label="How to read the file">
        <Columns of={of} chosen={choice.columns ?? null} onChange={(columns) => change({ columns })} />
        <Fields of={of} choice={choice} onChange={change} />
      </fieldset>
      {!of.has_file && (
        <Text size="sm" className={css.note}>
          The file itself is not kept any more. To read it in another way, upload it again.
        </Text>
      )}
      {of.error !== null && (
        <Alert color="yellow" variant="outline" m="md" title="Not started by itself">
          {of.error.error}
        </Alert>
      )}
      {of.warnings.length > 0 && (
        <ul className={css.warnings} aria-label="Warnings">
          {of.warnings.map(({ code, message }) => (
            <li key={`${code} ${message}`}>{escapeInvisible(message)}</li>
          ))}
        </ul>
      )}
      {error && <ErrorAlert error={error} />}
      <QueryResult query={query}>{({ rows }) => <Preview of={of} rows={rows} />}</QueryResult>
    </Panel>
  );
}

/** What was chosen since the page was opened; the rest is detected. */
function useReading({ id }: ListHere) {
  const { id: account } = useAccount();
  const client = useQueryClient();
  const wanted = useRef<Choice>({});
  const [choice, setChoice] = useState<Choice>({});
  const { run, busy, error } = useAsyncAction(async () => {
    const call = { params: { path: { account, id } }, body: { read: wanted.current } };
    await unwrap(api.PATCH('/dashboard/accounts/{account}/lists/{id}', call));
    await client.invalidateQueries({ queryKey: listsKey(account) });
  });
  const change = (some: Choice) => {
    wanted.current = { ...wanted.current, ...some };
    setChoice(wanted.current);
    run();
  };
  return { choice, busy, error, change };
}

const ALL = 'all';

/** One column, or all with addresses. */
function Columns(props: { of: ListHere; chosen: ChosenColumns; onChange: (columns: ChosenColumns) => void }) {
  const { of, chosen, onChange } = props;
  const { columns, address_columns: found } = of;
  if (columns.length < 2) return null;
  const value = chosen === ALL ? ALL : found.length === 1 ? String(found[0]) : '';
  return (
    <NativeSelect
      label="Addresses in"
      value={value}
      onChange={(event) => onChange(columnsIn(of, event.currentTarget.value))}
      data={[
        ...(value === '' ? [{ value: '', label: `${found.length} columns` }] : []),
        ...columns.map((name, i) => ({ value: String(i + 1), label: columnLabel(name, i) })),
        { value: ALL, label: 'All columns with addresses' },
      ]}
    />
  );
}

const columnsIn = ({ columns }: ListHere, value: string): ChosenColumns =>
  value === '' ? null : value === ALL ? ALL : [columnKey(columns, Number(value) - 1)];

/** Its name, which stays the same whatever else is read; its number where the name says nothing. */
function columnKey(columns: readonly string[], index: number): string | number {
  const name = columns[index] ?? '';
  return name.trim() !== '' && columns.indexOf(name) === columns.lastIndexOf(name) ? name : index + 1;
}

function Fields({ of, choice, onChange }: { of: ListHere; choice: Choice; onChange: (choice: Choice) => void }) {
  const { read } = of;
  const encodings =
    read.encoding === null || ENCODINGS.includes(read.encoding) ? ENCODINGS : [read.encoding, ...ENCODINGS];
  const chosen = (value: string) => (value === '' ? null : value);
  return (
    <>
      {read.header_row !== null && (
        <Committed
          label="Row of names"
          about="0: none"
          value={String(choice.header_row ?? read.header_row)}
          onCommit={(text) => onChange({ header_row: /^\d{1,4}$/.test(text) ? Number(text) : null })}
        />
      )}
      {read.encoding !== null && (
        <>
          <NativeSelect
            label="Between cells"
            value={choice.delimiter ?? ''}
            onChange={(event) => onChange({ delimiter: chosen(event.currentTarget.value) })}
            data={[
              { ...DETECTED, label: `Detected: ${nameOf(read.delimiter)}` },
              ...Object.keys(DELIMITERS).map((name) => ({ value: name, label: name })),
            ]}
          />
          <NativeSelect
            label="Encoding"
            value={choice.encoding ?? ''}
            onChange={(event) => onChange({ encoding: chosen(event.currentTarget.value) })}
            data={[
              { ...DETECTED, label: `Detected: ${read.encoding}` },
              ...encodings.map((name) => ({ value: name, label: name })),
            ]}
          />
        </>
      )}
      {read.sheet !== null && (
        <Committed
          label="Sheet"
          about="Name or number"
          value={String(choice.sheet ?? read.sheet)}
          onCommit={(text) => onChange({ sheet: chosen(text) })}
        />
      )}
      {read.entry !== null && (
        <Committed
          label="File in the archive"
          about="Its name"
          value={choice.entry ?? read.entry}
          onCommit={(text) => onChange({ entry: chosen(text) })}
        />
      )}
    </>
  );
}

const NAMES = new Map<string, string>(Object.entries(DELIMITERS).map(([name, character]) => [character, name]));
const nameOf = (delimiter: string | null): string =>
  delimiter === null ? 'nothing' : (NAMES.get(delimiter) ?? escapeInvisible(delimiter));

/** A text that counts when the field is left, or with Enter. */
function Committed(props: { label: string; about: string; value: string; onCommit: (text: string) => void }) {
  const { label, about, value, onCommit } = props;
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const commit = () => {
    if (text.trim() !== value) onCommit(text.trim());
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter') commit();
  };
  return (
    <TextInput
      label={label}
      placeholder={about}
      value={text}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={commit}
      onKeyDown={onKeyDown}
    />
  );
}

interface PreviewRow {
  readonly row: number;
  readonly cells: readonly string[];
  readonly problem: string | null;
}

function Preview({ of, rows }: { of: ListHere; rows: readonly PreviewRow[] }) {
  const { columns, address_columns: chosen } = of;
  const main = (chosen[0] ?? 1) - 1;
  const place = useRef<HTMLElement>(null);
  const found = useRef<HTMLTableCellElement>(null);
  useEffect(() => {
    if (place.current && found.current)
      place.current.scrollLeft = found.current.offsetLeft - place.current.clientWidth / 3;
  }, [main, of.id]);
  const isChosen = (index: number) => chosen.includes(index + 1);
  const look = (index: number) => (isChosen(index) ? css.found : '');
  return (
    <Box component="section" ref={place} className={css.preview} aria-label="The first rows of the file" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">#</th>
            {columns.map((name, i) => (
              <th key={`${i} ${name}`} scope="col" className={look(i)} ref={i === main ? found : null}>
                {name.trim() === '' ? 'No name' : escapeInvisible(name)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ row, cells, problem }) => (
            <tr key={row}>
              <td className="dim">{formatNumber(row)}</td>
              {columns.map((name, i) => (
                <td key={`${i} ${name}`} className={look(i)}>
                  <Cell text={cells[i] ?? ''} isAddress={isChosen(i)} isBroken={problem !== null && i === 0} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Box>
  );
}

function Cell({ text, isAddress, isBroken }: { text: string; isAddress: boolean; isBroken: boolean }) {
  if (text.trim() === '') return <span className="dim">blank</span>;
  const shown = escapeInvisible(text);
  if (isBroken) return <span className="dim">broken: {shown}</span>;
  return isAddress ? <span className="mono">{shown}</span> : shown;
}
