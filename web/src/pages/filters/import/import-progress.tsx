import { Button, Group, Progress, Stack, Text } from '@mantine/core';
import { useSyncExternalStore } from 'react';
import { ErrorAlert } from '../../../parts/error-alert.tsx';
import { focusOnMount } from '../../../parts/focus.ts';
import { formatNumber, pluralize } from '../../../parts/format.ts';
import { LINES_LABEL } from './import-form.tsx';
import { backToText, type ImportLine } from './lines.ts';
import { Results } from './results.tsx';
import type { ImportRun, ImportState, Outcome } from './run.ts';

/** Progress and results of an import; invalid lines can be edited and imported again. */
export function ImportProgress(props: {
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
    <textarea aria-label={LINES_LABEL} readOnly value={lines.map(backToText).join('\n')} />
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
