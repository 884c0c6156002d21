import { Button, Stack, Text } from '@mantine/core';
import { CopyText } from '../../parts/copy-text.tsx';

export function RecoveryCodes({ codes, email }: { codes: readonly string[]; email: string }) {
  return (
    <Stack gap="sm" align="flex-start">
      <Text size="sm">
        They sign you in when the app is lost; each works once. They are shown now and never again: keep them where the
        app is not.
      </Text>
      <CopyText block text={codes.join('\n')} label="the recovery codes" />
      <Button size="xs" onClick={() => download(codes, email)}>
        Download them as a file
      </Button>
    </Stack>
  );
}

function download(codes: readonly string[], email: string): void {
  const text = `Recovery codes of ${email} at ${location.host}. Each works once.\n\n${codes.join('\n')}\n`;
  const url = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  const link = Object.assign(document.createElement('a'), { href: url, download: 'mailvet-recovery-codes.txt' });
  link.click();
  // The browser has begun to read it by the next turn; nothing of it is to stay.
  setTimeout(() => URL.revokeObjectURL(url));
}
