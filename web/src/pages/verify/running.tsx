import { Button, Group, Progress, Stack, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import type { Question } from './use-verification.ts';

/** The whole budget of a check, in seconds. */
const BUDGET = 10;

/** That it runs, for how long already, and the way out. */
export function Running({ question, onCancel }: { question: Question; onCancel: () => void }) {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds((n) => n + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  return (
    <Stack gap="xs">
      <Progress value={Math.min(95, (seconds / BUDGET) * 100)} animated aria-label="Time that the check has taken" />
      <Group>
        <Text size="sm" className="anywhere" role="status">
          {question.validation_type === 'smtp' ? 'Looking up and asking the mail server' : 'Looking up'} for{' '}
          {question.email}.
          <span aria-hidden className="numbers">
            {` ${seconds} s of at most ${BUDGET} s.`}
          </span>
        </Text>
        <Button onClick={onCancel}>Cancel</Button>
      </Group>
    </Stack>
  );
}
