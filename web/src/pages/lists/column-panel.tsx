import { Box, Checkbox, NativeSelect, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
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
import { listQuery, previewQuery } from './queries.ts';
import type { ListSearch } from './search.ts';

const FORMATS: Readonly<Record<string, string>> = {
  csv: 'CSV',
  tsv: 'TSV',
  text: 'Plain text',
  ndjson: 'JSON Lines',
  json: 'JSON',
  xlsx: 'XLSX',
};
const DELIMITERS: Readonly<Record<string, string>> = { ',': 'commas', ';': 'semicolons', '\t': 'tabs' };
/** Names of columns are part of these forms themselves. */
const NAMED = new Set(['json', 'ndjson']);

/** What was detected in the file, its first rows, and the column with the addresses, which can be changed. */
export function ColumnPanel({ of, level }: { of: ListHere; level: ListSearch['level'] }) {
  const { id: account } = useAccount();
  const query = useQuery(previewQuery(account, of.id));
  const change = useColumnChange(of, level);
  const { rows, format, delimiter, columns } = of;
  const hasNames = format !== null && NAMED.has(format);
  const facts = [
    pluralize(rows.total, 'row'),
    ...(format === null ? [] : [FORMATS[format] ?? format]),
    ...(delimiter === null ? [] : [DELIMITERS[delimiter] ?? delimiter]),
    ...(hasNames ? [] : [of.header ? 'a row of names' : 'no row of names']),
    `an address in ${formatNumber(rows.addresses + rows.duplicates)}`,
  ];
  return (
    <Panel
      title="Column with the addresses"
      flush
      actions={
        <>
          {!hasNames && columns.length > 0 && (
            <Checkbox
              label="First row has names"
              checked={of.header}
              disabled={change.busy}
              onChange={(event) => change.to(of.column, event.currentTarget.checked)}
            />
          )}
          {columns.length > 1 && (
            <NativeSelect
              aria-label="Column with the addresses"
              value={String(of.column)}
              disabled={change.busy}
              onChange={(event) => change.to(Number(event.currentTarget.value), of.header)}
              data={columns.map((name, i) => ({ value: String(i + 1), label: columnLabel(name, i) }))}
            />
          )}
        </>
      }
      footer={
        <Text size="sm" role="status">
          {change.busy
            ? 'Reading the rows again…'
            : `${facts.join(', ')}.${columns.length > 1 ? ' The other columns come back unchanged.' : ''}`}
        </Text>
      }
    >
      {change.error && <ErrorAlert error={change.error} />}
      <QueryResult query={query}>{({ rows }) => <Preview of={of} rows={rows} />}</QueryResult>
    </Panel>
  );
}

/** Replaces the list by one with another column. */
function useColumnChange({ id }: ListHere, level: ListSearch['level']) {
  const { id: account } = useAccount();
  const client = useQueryClient();
  const navigate = useNavigate();
  const wanted = useRef({ column: 1, header: true });
  const { run, busy, error } = useAsyncAction(async () => {
    const call = { params: { path: { account, id } }, body: wanted.current };
    const replacement = await unwrap(api.POST('/dashboard/accounts/{account}/lists/{id}/column', call));
    const search = level === undefined ? {} : { level };
    const to = { to: '/lists/$id', params: { id: replacement.id }, search } as const;
    await navigate({ ...to, replace: true, resetScroll: false });
    client.removeQueries({ queryKey: listQuery(account, id).queryKey });
  });
  const to = (column: number, header: boolean) => {
    wanted.current = { column, header };
    run();
  };
  return { busy, error, to };
}

interface PreviewRow {
  readonly row: number;
  readonly cells: readonly string[];
  readonly problem: string | null;
}

function Preview({ of, rows }: { of: ListHere; rows: readonly PreviewRow[] }) {
  const { columns, column } = of;
  const place = useRef<HTMLElement>(null);
  const found = useRef<HTMLTableCellElement>(null);
  useEffect(() => {
    if (place.current && found.current)
      place.current.scrollLeft = found.current.offsetLeft - place.current.clientWidth / 3;
  }, [column, of.id]);
  const look = (index: number) => (index === column - 1 ? css.found : '');
  return (
    <Box component="section" ref={place} className={css.preview} aria-label="The first rows of the file" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">#</th>
            {columns.map((name, i) => (
              <th key={`${i} ${name}`} scope="col" className={look(i)} ref={i === column - 1 ? found : null}>
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
                  <Cell text={cells[i] ?? ''} isAddress={i === column - 1} isBroken={problem !== null && i === 0} />
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
