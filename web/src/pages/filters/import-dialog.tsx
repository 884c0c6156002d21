import { plural, t } from '@lingui/core/macro';
import { Box, Button, FileButton, Group, Modal, Paper, Stack, Text, Textarea } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { type DragEvent, useRef, useState } from 'react';
import { FILTER_FILE_BYTES } from '../../../../src/kernel/facts/limits.ts';
import { unwrap } from '../../api/client.ts';
import { handleApiError } from '../../api/query-client.ts';
import type { FilterImport } from '../../api/schema.ts';
import { useAccount } from '../../api/session.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { ErrorAlert } from '../../parts/error-alert.tsx';
import { focusOnMount } from '../../parts/focus.ts';
import { formatNumber } from '../../parts/format.ts';
import { useAsyncAction } from '../../parts/use-async-action.ts';
import { useFocusInvalid } from '../../parts/use-focus-invalid.ts';
import { escapeInvisible } from '../../parts/verdict/escape-invisible.ts';
import { FORMAT_NAMES } from '../lists/read-panel.tsx';
import { filtersKey } from './queries.ts';
import { ACTION_LABELS, kindOf } from './types.ts';

const LINES_LABEL = t`One entry per line`;

/** What is imported: a file, or the text that was typed. */
type Source = { readonly file: File } | { readonly text: string };

/** The server reads both alike, and finds out by the content what a file is. */
function send(account: string, source: Source, dryRun: boolean): Promise<FilterImport> {
  const path = `/dashboard/accounts/${encodeURIComponent(account)}/filters/import?dry_run=${dryRun}`;
  const [body, type] =
    'file' in source ? [source.file, 'application/octet-stream'] : [source.text, 'text/plain; charset=utf-8'];
  const call = { method: 'POST', body, headers: { 'content-type': type }, credentials: 'same-origin' } as const;
  return unwrap(
    fetch(path, call).then(async (response) => {
      const json = await response.json().catch(() => undefined);
      return response.ok ? { data: json, response } : { error: json, response };
    }),
  );
}

/** Imports filters from pasted text or a file. What was read is shown before anything changes. */
export function ImportDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const narrow = useMediaQuery('(max-width: 48em)');
  // Kept while the dialog is closed, so that an accidental close loses nothing.
  const [text, setText] = useState('');
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={t`Import filters`}
      size="xl"
      fullScreen={narrow ?? false}
      closeOnClickOutside={false}
    >
      <Import text={text} onText={setText} onClose={onClose} />
    </Modal>
  );
}

/** Mounted with the dialog. */
function Import(props: { text: string; onText: (text: string) => void; onClose: () => void }) {
  const { text, onText, onClose } = props;
  const { id } = useAccount();
  const client = useQueryClient();
  const [source, setSource] = useState<Source | null>(null);
  const [found, setFound] = useState<FilterImport | null>(null);
  const { run, busy, error } = useAsyncAction(async () => {
    if (source === null) return;
    try {
      setFound(await send(id, source, false));
      onText('');
    } finally {
      // Also where some were added before it failed.
      await client.invalidateQueries({ queryKey: filtersKey(id) });
    }
  });
  if (source === null || found === null)
    return (
      <ImportForm
        text={text}
        onText={onText}
        onCancel={onClose}
        onRead={async (wanted) => {
          const read = await send(id, wanted, true);
          setSource(wanted);
          setFound(read);
        }}
      />
    );
  return (
    <Stack>
      <Found found={found} />
      {error && <ErrorAlert error={error} />}
      {error && 'text' in source && <Draft text={source.text} />}
      <Group justify="end">
        {found.dry_run ? (
          <>
            <Button onClick={() => setFound(null)} disabled={busy}>{t`Back`}</Button>
            <Button variant="filled" onClick={run} loading={busy} disabled={found.added === 0}>
              {found.added === 0
                ? t`Nothing to import`
                : t`Import ${plural(found.added, { one: '# filter', other: '# filters' })}`}
            </Button>
          </>
        ) : (
          <Button variant="filled" onClick={onClose}>{t`Done`}</Button>
        )}
      </Group>
    </Stack>
  );
}

/** If the session has ended, the text is found where it is typed, once the user is back. */
const Draft = ({ text }: { text: string }) => (
  <form hidden>
    <textarea aria-label={LINES_LABEL} readOnly value={text} />
  </form>
);

/** Takes lines from a text area or a file. `onRead` rejects for what cannot be read. */
function ImportForm(props: {
  text: string;
  onText: (text: string) => void;
  onRead: (source: Source) => Promise<void>;
  onCancel: () => void;
}) {
  const { text, onText, onRead, onCancel } = props;
  const [file, setFile] = useState<File | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const [busy, setBusy] = useState(false);
  const [over, setOver] = useState(false);
  const forget = useRef<() => void>(null);
  const { form, onAttempt } = useFocusInvalid(error);

  function choose(chosen: File | null | undefined) {
    // So that the same file can be chosen again after editing.
    forget.current?.();
    setError(null);
    setFile(chosen ?? null);
  }
  async function submit() {
    setError(null);
    if (file === null && text.trim() === '') return setError(new Error('Enter or paste at least one line.'));
    setBusy(true);
    try {
      await onRead(file === null ? { text } : { file });
    } catch (failure) {
      const reason = failure instanceof Error ? failure : new Error(String(failure));
      handleApiError(reason);
      setError(reason);
    } finally {
      setBusy(false);
    }
  }

  return (
    <form
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        onAttempt();
        if (!busy) void submit();
      }}
    >
      <Stack>
        <Paper
          withBorder={over}
          onDragOver={(event: DragEvent) => {
            event.preventDefault();
            setOver(true);
          }}
          onDragLeave={() => setOver(false)}
          onDrop={(event: DragEvent) => {
            if (event.dataTransfer.files.length === 0) return;
            event.preventDefault();
            setOver(false);
            choose(event.dataTransfer.files[0]);
          }}
        >
          {file ? (
            <Box py="md">
              <Text fw={600} className="anywhere">
                {file.name}
              </Text>
              {error && <ErrorAlert error={error} />}
            </Box>
          ) : (
            <Textarea
              label={LINES_LABEL}
              description={t`An email address, a domain, an IP address or a CIDR block. Add an optional reason after a comma or a tab.`}
              placeholder={t`spam.example.com, bought lists
jane@example.com
192.0.2.0/24`}
              value={text}
              onChange={(event) => onText(event.currentTarget.value)}
              maxLength={FILTER_FILE_BYTES}
              rows={10}
              wrap="off"
              spellCheck={false}
              data-autofocus
              error={error?.message}
              styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
            />
          )}
        </Paper>
        <Text
          size="sm"
          c="dimmed"
        >{t`Or choose a file or drop it here: CSV, a workbook, JSON or plain text. The column with the values is found by its content; columns called filter_type, reason, action, match and expires_at are read as well.`}</Text>
        <Group justify="space-between">
          <Group>
            <FileButton onChange={choose} resetRef={forget}>
              {(open) => <Button {...open}>{file ? t`Choose another file` : t`Choose a file`}</Button>}
            </FileButton>
            {file && <Button onClick={() => choose(null)}>{t`Enter text instead`}</Button>}
          </Group>
          <Group>
            <Button onClick={onCancel}>{t`Cancel`}</Button>
            <Button type="submit" variant="filled" loading={busy}>{t`Preview`}</Button>
          </Group>
        </Group>
      </Stack>
    </form>
  );
}

type Row = FilterImport['filters'][number];
type Fault = FilterImport['errors'][number];

const FILTERS: readonly Column<Row>[] = [
  { header: t`Row`, numeric: true, cell: ({ row }) => formatNumber(row) },
  { header: t`Action`, cell: ({ action }) => ACTION_LABELS[action].one },
  { header: t`Type`, cell: kindOf },
  {
    header: t`Value`,
    cell: ({ value }) => (
      <Text size="sm" className="anywhere">
        {escapeInvisible(value)}
      </Text>
    ),
  },
  { header: t`Expires`, cell: ({ expires_at: expires }) => expires ?? '' },
  {
    header: t`Reason`,
    cell: ({ reason }) => (
      <Text size="sm" className="anywhere" lineClamp={2}>
        {reason ?? ''}
      </Text>
    ),
  },
];

const FAULTS: readonly Column<Fault>[] = [
  { header: t`Row`, numeric: true, cell: ({ row }) => formatNumber(row) },
  {
    header: t`Text`,
    cell: ({ text }) => (
      <Text size="sm" className="anywhere" lineClamp={3}>
        {escapeInvisible(text)}
      </Text>
    ),
  },
  {
    header: t`What is wrong`,
    cell: ({ field, error }) => (
      <Text size="sm" className="anywhere">
        {field !== null && <b>{field}: </b>}
        {error}
      </Text>
    ),
  },
];

function invalidText(shown: number, invalid: number, isPreview: boolean): string {
  const [first, all] = [formatNumber(shown), formatNumber(invalid)];
  if (shown === invalid) return isPreview ? t`Rows that cannot be used` : t`Rows that were left out`;
  return isPreview
    ? t`The first ${first} of ${all} rows that cannot be used`
    : t`The first ${first} of ${all} rows that were left out`;
}

/** What was read, and what becomes of it. */
function Found({ found }: { found: FilterImport }) {
  const { dry_run: isPreview, rows, added, existing, invalid, errors, filters, warnings } = found;
  return (
    <Stack gap="sm">
      {/* The button that led here was removed: focus continues here. */}
      <Text key={String(isPreview)} ref={focusOnMount} tabIndex={-1} role="status" fw={600}>
        {isPreview
          ? t`${plural(rows, { one: '# row', other: '# rows' })} read. Nothing has changed yet.`
          : t`${plural(rows, { one: '# row', other: '# rows' })} processed.`}
      </Text>
      <Text size="sm" className="numbers">
        {isPreview
          ? t`${formatNumber(added)} to be added, ${formatNumber(existing)} already there, ${formatNumber(invalid)} invalid.`
          : t`${formatNumber(added)} added, ${formatNumber(existing)} already there, ${formatNumber(invalid)} invalid.`}
      </Text>
      <Text size="sm" c="dimmed" className="anywhere">
        {readAs(found)}
      </Text>
      {warnings.length > 0 && (
        <ul aria-label={t`Warnings`}>
          {warnings.map((warning) => (
            <li key={warning}>
              <Text size="sm">{escapeInvisible(warning)}</Text>
            </li>
          ))}
        </ul>
      )}
      {errors.length > 0 && (
        <>
          <Text size="sm" fw={600}>
            {invalidText(errors.length, invalid, isPreview)}
          </Text>
          <DataTable label={t`Invalid rows`} columns={FAULTS} rows={errors.slice(0, SHOWN)} rowKey={faultKey} />
          {errors.length > SHOWN && (
            <Text size="sm" c="dimmed">
              {t`${formatNumber(invalid - SHOWN)} more are not shown.`}
            </Text>
          )}
        </>
      )}
      {isPreview && filters.length > 0 && (
        <>
          <Text size="sm" fw={600}>
            {filters.length < rows - invalid ? t`The first ${filters.length} filters, as read` : t`Filters, as read`}
          </Text>
          <DataTable label={t`Filters`} columns={FILTERS} rows={filters} rowKey={rowKey} />
        </>
      )}
    </Stack>
  );
}
/** Of the invalid rows. */
const SHOWN = 100;
const faultKey = ({ row, field, error }: Fault): string => `${row} ${field} ${error}`;
const rowKey = ({ row, value }: Row): string => `${row} ${value}`;

/** `Read as CSV, windows-1252, header in row 1; values in the column “Domain”, reason in “Note”.` */
function readAs({ read: { format, encoding, sheet, entry, header_row: headerRow, columns } }: FilterImport): string {
  const parts = [
    format === null ? 'text' : FORMAT_NAMES[format],
    ...(encoding === null ? [] : [encoding]),
    ...(sheet === null ? [] : [t`sheet “${escapeInvisible(sheet)}”`]),
    ...(entry === null ? [] : [t`file “${escapeInvisible(entry)}”`]),
    ...(headerRow === null || headerRow === 0 ? [] : [t`header in row ${formatNumber(headerRow)}`]),
  ];
  const used = columns.flatMap(({ column, field }) =>
    field === null ? [] : [t`${field} in “${escapeInvisible(column)}”`],
  );
  return t`Read as ${parts.join(', ')}; ${used.join(', ')}.`;
}
