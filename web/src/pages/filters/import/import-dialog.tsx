import {
  Box,
  Button,
  FileButton,
  Group,
  Modal,
  Paper,
  Progress,
  SegmentedControl,
  Stack,
  Text,
  Textarea,
} from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { type DragEvent, type RefObject, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { api, unwrap } from '../../../api/client.ts';
import type { FilterImport } from '../../../api/schema.ts';
import { useAccount } from '../../../api/session.ts';
import { type Column, DataTable } from '../../../parts/data-table.tsx';
import { ErrorAlert } from '../../../parts/error-alert.tsx';
import { focusOnMount } from '../../../parts/focus.ts';
import { formatNumber, pluralize } from '../../../parts/format.ts';
import { keysOf } from '../../../parts/keys-of.ts';
import { Pagination } from '../../../parts/pagination.tsx';
import { useFocusInvalid } from '../../../parts/use-focus-invalid.ts';
import { filtersKey } from '../queries.ts';
import { describeFilter } from '../types.ts';
import {
  backToText,
  type ImportLine,
  lineToText,
  MAX_BYTES,
  nextChunk,
  readFile,
  readTyped,
  toRequest,
  UnusableText,
} from './lines.ts';

const LINES_LABEL = 'One entry per line';

/** Takes lines from a text area or a file. */
function ImportForm(props: {
  text: string;
  onText: (text: string) => void;
  onStart: (lines: readonly ImportLine[]) => void;
  onCancel: () => void;
}) {
  const { text, onText, onStart, onCancel } = props;
  const [file, setFile] = useState<{ name: string; lines: readonly ImportLine[] } | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const [over, setOver] = useState(false);
  const forget = useRef<() => void>(null);
  const { form, onAttempt } = useFocusInvalid(error);

  async function attempt(read: () => Promise<void>) {
    setError(null);
    try {
      await read();
    } catch (failure) {
      if (!(failure instanceof UnusableText)) throw failure;
      setError(failure);
    }
  }
  const choose = (chosen: File | null | undefined) =>
    attempt(async () => {
      // So that the same file can be chosen again after editing.
      forget.current?.();
      setFile(null);
      if (chosen) setFile({ name: chosen.name, lines: some(await readFile(chosen), `${chosen.name} is empty.`) });
    });
  const submit = () =>
    attempt(async () => onStart(file?.lines ?? some(readTyped(text), 'Enter or paste at least one line.')));

  return (
    <form
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        onAttempt();
        void submit();
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
            void choose(event.dataTransfer.files[0]);
          }}
        >
          {file ? (
            <Box py="md">
              <Text fw={600} className="anywhere">
                {file.name}
              </Text>
              <Text size="sm">{pluralize(file.lines.length, 'line')} to import.</Text>
            </Box>
          ) : (
            <Textarea
              label={LINES_LABEL}
              description="An email address, a domain, an IP address or a CIDR block. Add an optional reason after a comma or a tab."
              placeholder={'spam.example.com, bought lists\njane@example.com\n192.0.2.0/24'}
              value={text}
              onChange={(event) => onText(event.currentTarget.value)}
              maxLength={MAX_BYTES}
              rows={10}
              wrap="off"
              spellCheck={false}
              data-autofocus
              error={error?.message}
              styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
            />
          )}
        </Paper>
        <Text size="sm" c="dimmed">
          Or choose a CSV file or drop it here. It has the columns filter_type, value and reason, and action, match and
          expires_at where a filter does not just block; or values only.
        </Text>
        <Group justify="space-between">
          <Group>
            <FileButton
              onChange={(chosen) => void choose(chosen)}
              accept=".csv,.txt,text/csv,text/plain"
              resetRef={forget}
            >
              {(open) => <Button {...open}>{file ? 'Choose another file' : 'Choose CSV file'}</Button>}
            </FileButton>
            {file && <Button onClick={() => setFile(null)}>Enter text instead</Button>}
          </Group>
          <Group>
            <Button onClick={onCancel}>Cancel</Button>
            <Button type="submit" variant="filled">
              {file ? `Import ${pluralize(file.lines.length, 'line')}` : 'Import'}
            </Button>
          </Group>
        </Group>
      </Stack>
    </form>
  );
}

function some(lines: readonly ImportLine[], none: string): readonly ImportLine[] {
  if (lines.length === 0) throw new UnusableText(none);
  return lines;
}

const PER_PAGE = 50;

const OUTCOME_LABELS: Readonly<Record<Outcome, string>> = {
  added: 'Added',
  exists: 'Already exists',
  invalid: 'Invalid',
};
const CHOICES = [
  { value: 'all' as const, label: 'All' },
  ...keysOf(OUTCOME_LABELS).map((outcome) => ({ value: outcome, label: OUTCOME_LABELS[outcome] })),
];

const COLUMNS: readonly Column<LineResult>[] = [
  { header: 'Line', numeric: true, cell: ({ line }) => line.number },
  {
    header: 'Text',
    cell: ({ line }) => (
      <Text size="sm" className="anywhere" lineClamp={3}>
        {lineToText(line)}
      </Text>
    ),
  },
  {
    header: 'Result',
    cell: (result) => (
      <Text size="sm" className="anywhere" {...(result.outcome === 'invalid' ? { fw: 600 } : {})}>
        {describeResult(result)}
      </Text>
    ),
  },
];

/** The result of each line. */
function Results({ results }: { results: readonly LineResult[] }) {
  const [chosen, setChosen] = useState<Outcome | 'all'>('all');
  const [page, setPage] = useState(1);
  const shown = chosen === 'all' ? results : results.filter(({ outcome }) => outcome === chosen);
  const pages = Math.max(1, Math.ceil(shown.length / PER_PAGE));
  const at = Math.min(page, pages);
  return (
    <Stack gap="sm">
      <Group>
        <SegmentedControl
          aria-label="Show results"
          size="xs"
          data={CHOICES}
          value={chosen}
          onChange={(value) => {
            setChosen(value);
            setPage(1);
          }}
        />
      </Group>
      {shown.length === 0 ? (
        <Text size="sm" c="dimmed">
          No lines.
        </Text>
      ) : (
        <DataTable
          label="Import results"
          columns={COLUMNS}
          rows={shown.slice((at - 1) * PER_PAGE, at * PER_PAGE)}
          rowKey={({ line }) => line.number}
        />
      )}
      <Pagination label="Result pages" page={at} total={pages} onTurn={setPage} />
    </Stack>
  );
}

function describeResult({ outcome, filter, error }: LineResult): string {
  if (outcome === 'invalid') return `${OUTCOME_LABELS[outcome]}: ${error ?? 'this entry cannot be used.'}`;
  const what = filter === null ? '' : ` (${describeFilter(filter)})`;
  return `${OUTCOME_LABELS[outcome]}${what}`;
}

/** Progress and results of an import; invalid lines can be edited and imported again. */
function ImportProgress(props: {
  run: ImportRun;
  onBack: (invalid: readonly ImportLine[]) => void;
  onClose: () => void;
}) {
  const { run, onBack, onClose } = props;
  const state = useSyncExternalStore(run.subscribe, run.state);
  const { results, phase, error } = state;
  const isRunning = phase === 'running' || phase === 'stopping';
  const invalid = results.filter(({ outcome }) => outcome === 'invalid').map(({ line }) => line);
  return (
    <Stack>
      {/* The button that started or stopped the import is gone: focus continues here. */}
      <Text key={isRunning ? 'running' : 'halted'} ref={focusOnMount} tabIndex={-1} role="status" fw={600}>
        {headline(state, run.total)}
      </Text>
      <Progress value={(results.length / run.total) * 100} aria-label="Import progress" animated={isRunning} />
      <Text size="sm" className="numbers">
        {summary(state)}
      </Text>
      {error && <ErrorAlert error={error} />}
      {phase === 'failed' && <Draft lines={run.rest()} />}
      <Group>
        {isRunning && (
          <Button onClick={run.stop} disabled={phase === 'stopping'}>
            Stop
          </Button>
        )}
        {(phase === 'stopped' || phase === 'failed') && <Button onClick={run.resume}>Resume</Button>}
        {!isRunning && invalid.length > 0 && (
          <Button onClick={() => onBack(invalid)}>Edit {pluralize(invalid.length, 'invalid line')}</Button>
        )}
        {!isRunning && (
          <Button variant="filled" onClick={onClose}>
            Done
          </Button>
        )}
      </Group>
      <Results results={results} />
    </Stack>
  );
}

const tally = ({ results }: ImportState, wanted: Outcome): number =>
  results.filter(({ outcome }) => outcome === wanted).length;

/** If the session has ended, what is left is found where lines are typed, once the user is back. */
const Draft = ({ lines }: { lines: readonly ImportLine[] }) => (
  <form hidden>
    <textarea aria-label={LINES_LABEL} readOnly value={backToText(lines)} />
  </form>
);

function headline({ phase, results }: ImportState, total: number): string {
  const progress = `${formatNumber(results.length)} of ${pluralize(total, 'line')}`;
  switch (phase) {
    case 'running':
      return 'Importing…';
    case 'stopping':
      return 'Stopping after the current request…';
    case 'stopped':
      return `Stopped after ${progress}. Filters already added are kept.`;
    case 'failed':
      return `Failed after ${progress}. Filters already added are kept.`;
    case 'done':
      return `${pluralize(total, 'line')} processed.`;
  }
}

const summary = (state: ImportState): string =>
  `${formatNumber(tally(state, 'added'))} added, ${formatNumber(tally(state, 'exists'))} already existed, ${formatNumber(tally(state, 'invalid'))} invalid.`;

type Answer = FilterImport['results'][number];
type Outcome = Answer['outcome'];
type LineResult = Answer & { readonly line: ImportLine };

interface ImportState {
  /** Of the lines processed so far, in their order. */
  readonly results: readonly LineResult[];
  readonly phase: 'running' | 'stopping' | 'stopped' | 'failed' | 'done';
  /** Set if `phase` is `failed`. */
  readonly error: Error | null;
}

/** Imports filters with one request at a time. */
interface ImportRun {
  readonly total: number;
  /** Lines that were not sent yet, or not answered. */
  readonly rest: () => readonly ImportLine[];
  readonly state: () => ImportState;
  readonly subscribe: (listener: () => void) => () => void;
  /** Stops after the current request. */
  readonly stop: () => void;
  /**
   * Continues after a stop or a failure. The unanswered request is repeated, which is harmless: existing filters are
   * reported as such.
   */
  readonly resume: () => void;
}

/** Starts immediately. `onHalt` is called when it completes, stops or fails. */
function startImport(account: string, lines: readonly ImportLine[], onHalt: () => void): ImportRun {
  const sendable = lines.filter(({ problem }) => problem === null);
  const unusable = lines.filter(({ problem }) => problem !== null);
  const listeners = new Set<() => void>();
  let sent = 0;
  let state: ImportState = { results: unusable.map(rejectedLine), phase: 'running', error: null };

  function set(change: Partial<ImportState>): void {
    state = { ...state, ...change };
    for (const listener of listeners) listener();
  }

  async function run(): Promise<void> {
    set({ phase: 'running', error: null });
    try {
      while (sent < sendable.length && state.phase === 'running') {
        const chunk = nextChunk(sendable, sent);
        const results = [...state.results, ...(await send(account, chunk))];
        sent += chunk.length;
        set({ results: results.sort((a, b) => a.line.number - b.line.number) });
      }
      set({ phase: sent < sendable.length ? 'stopped' : 'done' });
    } catch (error) {
      set({ phase: 'failed', error: error instanceof Error ? error : new Error(String(error)) });
    }
    onHalt();
  }

  void run();
  return {
    total: lines.length,
    rest: () => sendable.slice(sent),
    state: () => state,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    stop: () => {
      if (state.phase === 'running') set({ phase: 'stopping' });
    },
    resume: () => {
      if (state.phase === 'stopped' || state.phase === 'failed') void run();
    },
  };
}

const rejectedLine = (line: ImportLine): LineResult => ({
  line,
  outcome: 'invalid',
  filter: null,
  error: line.problem,
});

async function send(account: string, chunk: readonly ImportLine[]): Promise<LineResult[]> {
  const path = '/dashboard/accounts/{account}/filters/import';
  const body = { lines: chunk.map(toRequest) };
  const { results } = await unwrap(api.POST(path, { params: { path: { account } }, body }));
  if (results.length !== chunk.length)
    throw new Error('The service did not return a result for every line. Try again.');
  return results.map((answer, at) => ({ ...answer, line: chunk[at]! }));
}

/** Imports filters from pasted text or a CSV file. */
export function ImportDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const narrow = useMediaQuery('(max-width: 48em)');
  // Kept while the dialog is closed, so that an accidental close loses nothing.
  const [text, setText] = useState('');
  const run = useRef<ImportRun>(null);
  const close = () => {
    // A running import is stopped first and shows its progress.
    if (run.current?.state().phase === 'running') run.current.stop();
    else if (run.current?.state().phase !== 'stopping') onClose();
  };
  return (
    <Modal
      opened={opened}
      onClose={close}
      title="Import filters"
      size="xl"
      fullScreen={narrow ?? false}
      closeOnClickOutside={false}
    >
      <Import text={text} onText={setText} current={run} onClose={onClose} />
    </Modal>
  );
}

/** Mounted with the dialog, and stopped with it. */
function Import(props: {
  text: string;
  onText: (text: string) => void;
  current: RefObject<ImportRun | null>;
  onClose: () => void;
}) {
  const { text, onText, current, onClose } = props;
  const { id } = useAccount();
  const client = useQueryClient();
  const [run, setRun] = useState<ImportRun | null>(null);
  useEffect(() => {
    current.current = run;
    return () => {
      run?.stop();
      current.current = null;
    };
  }, [run, current]);
  function start(lines: readonly ImportLine[]) {
    onText('');
    setRun(startImport(id, lines, () => void client.invalidateQueries({ queryKey: filtersKey(id) })));
  }
  if (run === null) return <ImportForm text={text} onText={onText} onStart={start} onCancel={onClose} />;
  return (
    <ImportProgress
      run={run}
      onClose={onClose}
      onBack={(lines) => {
        onText(backToText(lines));
        setRun(null);
      }}
    />
  );
}
