import { Alert, Box, NativeSelect, Text, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { LIST_HEADER_ROW } from '../../../../src/kernel/facts/limits.ts';
import { DELIMITERS } from '../../../../src/kernel/facts/lists.ts';
import { api, unwrap } from '../../api/client.ts';
import type { ListHere } from '../../api/schema.ts';
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

type Choice = ListHere['chosen'];

const FORMATS: Readonly<Record<string, string>> = {
  text: 'Plain text',
  ndjson: 'JSON Lines',
  vcard: 'vCard',
  spreadsheetml: 'Excel 2003 XML',
};
/** Their fields have names of their own: there is no header row, and nothing between cells. */
const RECORDS: readonly (string | null)[] = ['json', 'ndjson', 'vcard', 'ldif'];
/** Those that lists come in; whatever else was found stands there as well. */
const ENCODINGS = [
  ...['utf-8', 'utf-16le', 'utf-16be', 'windows-1252', 'windows-1250', 'windows-1251', 'windows-1253', 'windows-1254'],
  ...['iso-8859-2', 'iso-8859-15', 'koi8-r', 'macintosh', 'shift_jis', 'euc-jp', 'gb18030', 'big5', 'euc-kr'],
];

/** How the file was read, with its first rows; all of it can be changed, and rows and price follow. */
export function ReadPanel({ of, reading }: { of: ListHere; reading: Reading }) {
  const { id: account } = useAccount();
  const query = useQuery(previewQuery(account, of.id));
  const { choice, busy, error, change } = reading;
  return (
    <Panel
      title="How the file was read"
      flush
      footer={
        <Text size="sm" role="status">
          {busy ? 'Reading the file again…' : summaryOf(of)}
        </Text>
      }
    >
      <fieldset className={css.reading} disabled={!of.has_file} aria-busy={busy} aria-label="How to read the file">
        <Columns of={of} chosen={choice.columns} onChange={(columns) => change({ columns })} />
        <Fields of={of} choice={choice} busy={busy} onChange={change} />
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
      {error && (
        <div className={css.note}>
          <ErrorAlert error={error} />
        </div>
      )}
      <QueryResult query={query}>{({ rows }) => <Preview of={of} rows={rows} />}</QueryResult>
    </Panel>
  );
}

/** `6 rows, CSV, 4 with an address.` */
function summaryOf({ rows, read: { format }, columns }: ListHere): string {
  const filled = rows.total - rows.blank - rows.unreadable;
  const found = rows.addresses + rows.duplicates;
  const facts = [
    pluralize(rows.total, 'row'),
    ...(format === null ? [] : [FORMATS[format] ?? format.toUpperCase()]),
    `${formatNumber(filled)} with an address`,
    ...(found === filled ? [] : [pluralize(found, 'address', 'addresses')]),
  ];
  return `${facts.join(', ')}.${columns.length > 1 ? ' Other columns come back unchanged.' : ''}`;
}

export interface Reading {
  choice: Choice;
  /** Whether the file is being read again. */
  busy: boolean;
  error: Error | null;
  change: (some: Partial<Choice>) => void;
}

/** What was asked for, and a change of it while the file is read again; one that fails leaves all as it was. */
export function useReading({ id, chosen }: ListHere): Reading {
  const { id: account } = useAccount();
  const client = useQueryClient();
  const wanted = useRef<Choice | null>(null);
  const [choice, setChoice] = useState<Choice | null>(null);
  const { run, busy, error } = useAsyncAction(async () => {
    try {
      // Further changes wait for the reading before.
      for (let read: Choice | null = null; wanted.current !== null && wanted.current !== read; ) {
        read = wanted.current;
        await unwrap(
          api.PATCH('/dashboard/accounts/{account}/lists/{id}', { params: { path: { account, id } }, body: { read } }),
        );
      }
      await client.invalidateQueries({ queryKey: listsKey(account) });
    } finally {
      wanted.current = null;
      setChoice(null);
    }
  });
  const change = (some: Partial<Choice>) => {
    const runs = wanted.current !== null;
    wanted.current = { ...(wanted.current ?? chosen), ...some };
    setChoice(wanted.current);
    if (!runs) run();
  };
  return { choice: choice ?? chosen, busy, error, change };
}

const ALL = 'all';

/** One column, or all with addresses. */
function Columns(props: { of: ListHere; chosen: Choice['columns']; onChange: (columns: Choice['columns']) => void }) {
  const { of, chosen, onChange } = props;
  const { columns, address_columns: found } = of;
  if (columns.length < 2) return null;
  const numbers = Array.isArray(chosen) ? chosen.map((column) => numberOf(columns, column)) : found;
  const value = chosen === ALL ? ALL : numbers.length === 1 ? String(numbers[0]) : '';
  return (
    <NativeSelect
      label="Addresses in"
      value={value}
      onChange={({ currentTarget: { value } }) =>
        onChange(value === '' ? null : value === ALL ? ALL : [columnKey(columns, Number(value))])
      }
      data={[
        ...(value === '' ? [{ value: '', label: pluralize(numbers.length, 'column') }] : []),
        ...columns.map((name, i) => ({ value: String(i + 1), label: columnLabel(name, i) })),
        { value: ALL, label: 'All columns with addresses' },
      ]}
    />
  );
}

/** Its number, which stays with another header row; its name where another column has that number for a name. */
const columnKey = (columns: readonly string[], number: number): string =>
  columns.includes(String(number)) ? (columns[number - 1] ?? '') : String(number);
const numberOf = (columns: readonly string[], key: string): number =>
  columns.includes(key) ? columns.indexOf(key) + 1 : Number(key);

type Change = (choice: Partial<Choice>) => void;

/** What is behind a choice is detected anew: another table has other columns. */
function Fields(props: { of: ListHere; choice: Choice; busy: boolean; onChange: Change }) {
  const { of, choice, busy, onChange } = props;
  const { read } = of;
  const hasRows = !RECORDS.includes(read.format);
  // Afterwards, what was found: a row behind the end is no header.
  const typed = busy ? choice : null;
  const table = { columns: null, header_row: null };
  return (
    <>
      {hasRows && read.header_row !== null && (
        <Committed
          label="Header row (0: none)"
          isNumber
          value={String(typed?.header_row ?? read.header_row)}
          onCommit={(text) => onChange({ header_row: text === null ? null : Number(text) })}
        />
      )}
      {hasRows && read.encoding !== null && (
        <Detected
          label="Delimiter"
          found={delimiterName(read.delimiter)}
          chosen={choice.delimiter === null ? null : delimiterName(choice.delimiter)}
          names={Object.keys(DELIMITERS)}
          onChange={(delimiter) => onChange({ delimiter, columns: null })}
        />
      )}
      {read.encoding !== null && (
        <Detected
          label="Encoding"
          found={read.encoding}
          chosen={choice.encoding}
          names={ENCODINGS}
          onChange={(encoding) => onChange({ encoding })}
        />
      )}
      {read.sheet !== null && (
        <Committed
          label="Sheet"
          value={typed?.sheet ?? read.sheet}
          onCommit={(sheet) => onChange({ ...table, sheet })}
        />
      )}
      {read.entry !== null && (
        <Committed
          label="Part of the file"
          value={typed?.entry ?? read.entry}
          onCommit={(entry) => onChange({ ...table, entry })}
        />
      )}
    </>
  );
}

const DELIMITER_NAMES = new Map<string, string>(
  Object.entries(DELIMITERS).map(([name, character]) => [character, name]),
);
const delimiterName = (delimiter: string | null): string =>
  delimiter === null ? 'none' : (DELIMITER_NAMES.get(delimiter) ?? delimiter);

/** `names`: those that are offered, beside what was found. */
function Detected(props: {
  label: string;
  found: string;
  chosen: string | null;
  names: readonly string[];
  onChange: (name: string | null) => void;
}) {
  const { label, found, chosen, names, onChange } = props;
  const own = chosen === null || names.includes(chosen) ? [] : [chosen];
  return (
    <NativeSelect
      label={label}
      value={chosen ?? ''}
      onChange={({ currentTarget: { value } }) => onChange(value === '' ? null : value)}
      data={[
        { value: '', label: chosen === null ? `Detected: ${escapeInvisible(found)}` : 'Detect' },
        ...[...own, ...names].map((name) => ({ value: name, label: escapeInvisible(name) })),
      ]}
    />
  );
}

const isRow = (text: string): boolean => /^\d+$/.test(text) && Number(text) <= LIST_HEADER_ROW.max;
const rowProblem = (text: string): string | null =>
  text === '' || isRow(text) ? null : `A whole number from 0 to ${formatNumber(LIST_HEADER_ROW.max)}.`;

/** A text that counts when the field is left, or with Enter; without one, it is detected. */
function Committed(props: {
  label: string;
  isNumber?: boolean;
  value: string;
  onCommit: (text: string | null) => void;
}) {
  const { label, isNumber = false, value, onCommit } = props;
  const [text, setText] = useState(value);
  const [error, setError] = useState<string | null>(null);
  useEffect(() => setText(value), [value]);
  const commit = () => {
    const wanted = text.trim();
    const problem = isNumber ? rowProblem(wanted) : null;
    setError(problem);
    if (wanted === value || problem !== null) return;
    if (wanted === '') setText(value);
    onCommit(wanted === '' ? null : wanted);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter') commit();
  };
  return (
    <TextInput
      label={label}
      {...(isNumber ? { inputMode: 'numeric' } : {})}
      error={error}
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
