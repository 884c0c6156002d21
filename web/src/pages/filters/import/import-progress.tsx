import { Button, Group, Progress, Stack, Text } from '@mantine/core';
import { useSyncExternalStore } from 'react';
import { Failure } from '../../../parts/failure.tsx';
import { takeFocus } from '../../../parts/focus.ts';
import { count, counted } from '../../../parts/words.ts';
import type { ImportLine } from './lines.ts';
import { Results } from './results.tsx';
import type { ImportRun, ImportState, Outcome } from './run.ts';

/** How far it is, what came of each line, and what can be done about those that are wrong. */
export function ImportProgress(props: {
  run: ImportRun;
  onBack: (wrong: readonly ImportLine[]) => void;
  onClose: () => void;
}) {
  const { run, onBack, onClose } = props;
  const state = useSyncExternalStore(run.subscribe, run.state);
  const { results, phase, error } = state;
  const going = phase === 'running' || phase === 'stopping';
  const wrong = results.filter(({ outcome }) => outcome === 'invalid').map(({ line }) => line);
  return (
    <Stack>
      {/* The button that was pressed to begin or to stop is gone; what follows begins here. */}
      <Text key={going ? 'going' : 'halted'} ref={takeFocus} tabIndex={-1} role="status" fw={600}>
        {headline(state, run.total)}
      </Text>
      <Progress value={(results.length / run.total) * 100} aria-label="Lines done" animated={going} />
      <Text size="sm" className="numbers">
        {summary(state)}
      </Text>
      {error && <Failure error={error} />}
      <Group>
        {going && (
          <Button onClick={run.stop} disabled={phase === 'stopping'}>
            Stop
          </Button>
        )}
        {(phase === 'stopped' || phase === 'failed') && <Button onClick={run.goOn}>Go on</Button>}
        {!going && wrong.length > 0 && (
          <Button onClick={() => onBack(wrong)}>Put {counted(wrong.length, 'wrong line')} back into the box</Button>
        )}
        {!going && (
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

function headline({ phase, results }: ImportState, total: number): string {
  const far = `${count(results.length)} of ${counted(total, 'line')}`;
  switch (phase) {
    case 'running':
      return 'Adding the lines …';
    case 'stopping':
      return 'Stopping after the lines that are under way …';
    case 'stopped':
      return `Stopped after ${far}. What was added stays.`;
    case 'failed':
      return `Came to a halt after ${far}. What was added stays.`;
    case 'done':
      return `${counted(total, 'line')} done.`;
  }
}

const summary = (state: ImportState): string =>
  `${count(tally(state, 'added'))} added, ${count(tally(state, 'exists'))} already there, ${count(tally(state, 'invalid'))} wrong.`;
