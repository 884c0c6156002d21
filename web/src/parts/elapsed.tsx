import { Trans } from '@lingui/react/macro';
import { Progress, Stack, Text } from '@mantine/core';
import { useEffect, useState } from 'react';

/** Progress of an operation that takes about `seconds`. */
export function Elapsed({ label, seconds }: { label: string; seconds: number }) {
  const [passed, setPassed] = useState(0);
  useEffect(() => {
    const began = performance.now();
    const timer = setInterval(() => setPassed((performance.now() - began) / 1000), 250);
    return () => clearInterval(timer);
  }, []);
  return (
    <Stack gap={4}>
      <Text size="sm" role="status">
        {label}
      </Text>
      <Progress value={Math.min(97, (passed / seconds) * 100)} aria-label={label} animated />
      <Text size="xs" c="dimmed" className="numbers" aria-hidden="true">
        <Trans>
          {Math.floor(passed)} of about {seconds} seconds
        </Trans>
      </Text>
    </Stack>
  );
}
