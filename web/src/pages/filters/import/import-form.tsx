import { Box, Button, FileButton, Group, Paper, Stack, Text, Textarea } from '@mantine/core';
import { type DragEvent, useRef, useState } from 'react';
import { pluralize } from '../../../parts/format.ts';
import { useFocusInvalid } from '../../../parts/use-focus-invalid.ts';
import { readFile, readTyped } from './csv.ts';
import { type ImportLine, MAX_BYTES, UnusableText } from './lines.ts';

export const LINES_LABEL = 'One entry per line';

/** Takes lines from a text area or a file. */
export function ImportForm(props: {
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
          Or choose a CSV file or drop it here. It has the columns filter_type, value and reason, or values only.
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
