import { Button, Group, Progress, Stack, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { TIMEOUT_MS } from '../../../../src/kernel/facts/limits.ts';
import type { VerificationRequest } from './use-verification.ts';

const BUDGET_SECONDS = TIMEOUT_MS.default / 1000;

/** Elapsed time of a running verification, with a cancel button. */
export function Running({ question, onCancel }: { question: VerificationRequest; onCancel: () => void }) {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds((n) => n + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  return (
    <Stack gap="xs">
      <Progress value={Math.min(95, (seconds / BUDGET_SECONDS) * 100)} animated aria-label="Elapsed time" />
      <Group>
        <Text size="sm" className="anywhere" role="status">
          Verifying {question.email}.
          <span aria-hidden className="numbers">
            {` ${seconds} s of at most ${BUDGET_SECONDS} s.`}
          </span>
        </Text>
        <Button onClick={onCancel}>Cancel</Button>
      </Group>
    </Stack>
  );
}
