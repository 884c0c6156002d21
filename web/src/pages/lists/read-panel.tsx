import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Alert, Box, Checkbox, NativeSelect, Text, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { LIST_HEADER_ROW } from '../../../../src/kernel/facts/limits.ts';
import { DELIMITERS, type Dedupe, type FileForm } from '../../../../src/kernel/facts/lists.ts';
import { api, unwrap } from '../../api/client.ts';
import type { ListHere } from '../../api/schema.ts';
import { useAccount } from '../../api/session.ts';
import { ErrorAlert } from '../../parts/error-alert.tsx';
import { formatNumber } from '../../parts/format.ts';
import { Panel } from '../../parts/panel.tsx';
import { QueryResult } from '../../parts/query-result.tsx';
import { useAsyncAction } from '../../parts/use-async-action.ts';
import { escapeInvisible } from '../../parts/verdict/escape-invisible.ts';
import { columnLabel } from './column-label.ts';
import { DedupeSelect } from './dedupe-select.tsx';
import css from './lists.module.css';
import { listsKey, previewQuery } from './queries.ts';

type Choice = ListHere['chosen'];
type Sent = Wanted & { readonly read: Choice };
interface Wanted {
  readonly read: Partial<Choice>;
  readonly dedupe: Dedupe;
}

export const FORMAT_NAMES: Readonly<Record<FileForm, string>> = {
  csv: 'CSV',
  tsv: t`tab-separated text`,
  text: t`plain text`,
  ndjson: 'JSON Lines',
  json: 'JSON',
  vcard: 'vCard',
  ldif: 'LDIF',
  xlsx: t`Excel workbook`,
  xlsb: t`binary Excel workbook`,
  xls: t`Excel 97–2003 workbook`,
  ods: t`OpenDocument spreadsheet`,
  spreadsheetml: t`Excel 2003 XML`,
  html: t`HTML table`,
};
/** Their fields have names of their own: there is no header row, and nothing between cells. */
const RECORDS: readonly (string | null)[] = ['json', 'ndjson', 'vcard', 'ldif'];
/** Those that lists come in; whatever else was found stands there as well. */
const ENCODINGS = [
  'utf-8',
  'utf-16le',
  'utf-16be',
  'windows-1252',
  'windows-1250',
  'windows-1251',
  'windows-1253',
  'windows-1254',
  'iso-8859-2',
  'iso-8859-15',
  'koi8-r',
  'macintosh',
  'shift_jis',
  'euc-jp',
  'gb18030',
  'big5',
  'euc-kr',
];

/** How the file was read, with its first rows; all of it can be changed, and rows and price follow. */
export function ReadPanel({ of, reading }: { of: ListHere; reading: Reading }) {
  const { id: account } = useAccount();
  const query = useQuery(previewQuery(account, of.id));
  const { choice, dedupe, busy, error, change } = reading;
  return (
    <Panel
      title={t`How the file was read`}
      flush
      footer={
        <Text size="sm" role="status">
          {busy ? t`Reading the file again…` : summaryOf(of)}
        </Text>
      }
    >
      <fieldset className={css.reading} disabled={!of.has_file} aria-busy={busy} aria-label={t`How to read the file`}>
        <Columns of={of} chosen={choice.columns} onChange={(columns) => change({ read: { columns } })} />
        <Fields of={of} choice={choice} busy={busy} onChange={(read) => change({ read })} />
        <DedupeSelect value={dedupe} onChange={(wanted) => change({ dedupe: wanted })} />
      </fieldset>
      {!of.has_file && (
        <Text
          size="sm"
          className={css.note}
        >{t`The file itself is not kept any more. To read it in another way, upload it again.`}</Text>
      )}
      {of.error !== null && (
        <Alert color="yellow" variant="outline" m="md" title={t`Not started by itself`}>
          {of.error.error}
        </Alert>
      )}
      {of.warnings.length > 0 && (
        <ul className={css.warnings} aria-label={t`Warnings`}>
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
    plural(rows.total, { one: '# row', other: '# rows' }),
    ...(format === null ? [] : [FORMAT_NAMES[format]]),
    t`${formatNumber(filled)} with an address`,
    ...(found === filled ? [] : [plural(found, { one: '# address', other: '# addresses' })]),
  ];
  return `${facts.join(', ')}.${columns.length > 1 ? t` Other columns come back unchanged.` : ''}`;
}

interface Reading {
  choice: Choice;
  dedupe: Dedupe;
  /** Whether the file is being read again. */
  busy: boolean;
  error: Error | null;
  change: (some: Partial<Wanted>) => void;
}

/** What was asked for, and a change of it while the file is read again; one that fails leaves all as it was. */
export function useReading({ id, chosen, dedupe }: ListHere): Reading {
  const { id: account } = useAccount();
  const client = useQueryClient();
  const wanted = useRef<Sent | null>(null);
  const [reading, setReading] = useState<Sent | null>(null);
  const { run, busy, error } = useAsyncAction(async () => {
    try {
      // Further changes wait for the reading before.
      for (let sent: Sent | null = null; wanted.current !== null && wanted.current !== sent; ) {
        sent = wanted.current;
        const call = { params: { path: { account, id } }, body: sent };
        await unwrap(api.PATCH('/dashboard/accounts/{account}/lists/{id}', call));
      }
      await client.invalidateQueries({ queryKey: listsKey(account) });
    } finally {
      wanted.current = null;
      setReading(null);
    }
  });
  const change = (some: Partial<Wanted>) => {
    const runs = wanted.current !== null;
    const before = wanted.current ?? { read: chosen, dedupe };
    wanted.current = { read: { ...before.read, ...some.read }, dedupe: some.dedupe ?? before.dedupe };
    setReading(wanted.current);
    if (!runs) run();
  };
  const { read: choice, dedupe: by } = reading ?? { read: chosen, dedupe };
  return { choice, dedupe: by, busy, error, change };
}

const ALL = 'all';
const SEVERAL = 'several';

/** One column, several, or all with addresses. */
function Columns(props: { of: ListHere; chosen: Choice['columns']; onChange: (columns: Choice['columns']) => void }) {
  const { of, chosen, onChange } = props;
  const { columns, address_columns: found } = of;
  const [wantsSeveral, setWantsSeveral] = useState(false);
  if (columns.length < 2) return null;
  const numbers = Array.isArray(chosen) ? chosen.map((column) => numberOf(columns, column)) : found;
  const isSeveral = wantsSeveral || (Array.isArray(chosen) && numbers.length > 1);
  const value = isSeveral ? SEVERAL : chosen === ALL ? ALL : numbers.length === 1 ? String(numbers[0]) : '';
  const choose = (wanted: string) => {
    setWantsSeveral(wanted === SEVERAL);
    if (wanted === SEVERAL) return;
    onChange(wanted === '' ? null : wanted === ALL ? ALL : [columnKey(columns, Number(wanted))]);
  };
  return (
    <>
      <NativeSelect
        label={t`Addresses in`}
        value={value}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
        data={[
          ...(value === ''
            ? [{ value: '', label: plural(numbers.length, { one: '# column', other: '# columns' }) }]
            : []),
          ...columns.map((name, i) => ({ value: String(i + 1), label: columnLabel(name, i) })),
          { value: SEVERAL, label: t`Several columns` },
          { value: ALL, label: t`All columns with addresses` },
        ]}
      />
      {isSeveral && (
        <SeveralColumns
          columns={columns}
          chosen={numbers}
          onChange={(wanted) => onChange(wanted.map((number) => columnKey(columns, number)))}
        />
      )}
    </>
  );
}

/** At least one stays chosen. */
function SeveralColumns(props: {
  columns: readonly string[];
  chosen: readonly number[];
  onChange: (numbers: readonly number[]) => void;
}) {
  const { columns, chosen, onChange } = props;
  return (
    <Box component="fieldset" className={css.columns}>
      <legend>{t`Columns with addresses`}</legend>
      {columns.map((name, i) => {
        const isChosen = chosen.includes(i + 1);
        return (
          <Checkbox
            key={`${i} ${name}`}
            label={columnLabel(name, i)}
            checked={isChosen}
            disabled={isChosen && chosen.length === 1}
            onChange={() => onChange(isChosen ? chosen.filter((one) => one !== i + 1) : [...chosen, i + 1])}
          />
        );
      })}
    </Box>
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
          label={t`Header row (0: none)`}
          isNumber
          value={String(typed?.header_row ?? read.header_row)}
          onCommit={(text) => onChange({ header_row: text === null ? null : Number(text) })}
        />
      )}
      {hasRows && read.encoding !== null && (
        <Detected
          label={t`Delimiter`}
          found={delimiterName(read.delimiter)}
          chosen={choice.delimiter === null ? null : delimiterName(choice.delimiter)}
          names={Object.keys(DELIMITERS)}
          onChange={(delimiter) => onChange({ delimiter, columns: null })}
        />
      )}
      {read.encoding !== null && (
        <Detected
          label={t`Encoding`}
          found={read.encoding}
          chosen={choice.encoding}
          names={ENCODINGS}
          onChange={(encoding) => onChange({ encoding })}
        />
      )}
      {read.sheet !== null && (
        <Committed
          label={t`Sheet`}
          value={typed?.sheet ?? read.sheet}
          onCommit={(sheet) => onChange({ ...table, sheet })}
        />
      )}
      {read.entry !== null && (
        <Committed
          label={t`Part of the file`}
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
        { value: '', label: chosen === null ? t`Detected: ${escapeInvisible(found)}` : t`Detect` },
        ...[...own, ...names].map((name) => ({ value: name, label: escapeInvisible(name) })),
      ]}
    />
  );
}

const isRow = (text: string): boolean => /^\d+$/.test(text) && Number(text) <= LIST_HEADER_ROW.max;
const rowProblem = (text: string): string | null =>
  text === '' || isRow(text) ? null : t`A whole number from 0 to ${formatNumber(LIST_HEADER_ROW.max)}.`;

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
    <Box
      component="section"
      ref={place}
      className={css.preview}
      aria-label={t`The first rows of the file`}
      tabIndex={0}
    >
      <table>
        <thead>
          <tr>
            <th scope="col">#</th>
            {columns.map((name, i) => (
              <th key={`${i} ${name}`} scope="col" className={look(i)} ref={i === main ? found : null}>
                {name.trim() === '' ? t`No name` : escapeInvisible(name)}
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
  if (text.trim() === '') return <span className="dim">{t`blank`}</span>;
  const shown = escapeInvisible(text);
  if (isBroken)
    return (
      <span className="dim">
        <Trans>broken: {shown}</Trans>
      </span>
    );
  return isAddress ? <span className="mono">{shown}</span> : shown;
}
