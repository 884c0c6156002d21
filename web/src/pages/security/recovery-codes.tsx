import { Button, Stack, Text } from '@mantine/core';
import { CopyText } from '../../parts/copy-text.tsx';

export function RecoveryCodes({ codes, email }: { codes: readonly string[]; email: string }) {
  return (
    <Stack gap="sm" align="flex-start">
      <Text size="sm">
        Use a recovery code to sign in if you lose access to the app. Each code works once. The codes are not shown
        again: store them separately from the app.
      </Text>
      <CopyText block text={codes.join('\n')} label="recovery codes" />
      <Button size="xs" onClick={() => download(codes, email)}>
        Download as file
      </Button>
    </Stack>
  );
}

function download(codes: readonly string[], email: string): void {
  const text = `Recovery codes for ${email} at ${location.host}. Each works once.\n\n${codes.join('\n')}\n`;
  const url = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  const link = Object.assign(document.createElement('a'), { href: url, download: 'mailvet-recovery-codes.txt' });
  link.click();
  // The download has started by the next task; the codes must not stay in memory.
  setTimeout(() => URL.revokeObjectURL(url));
}
