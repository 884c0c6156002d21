import { Button, Code, CopyButton, Group } from '@mantine/core';

/** A text to be copied whole: a key, a link, a command. `label` says what it is. */
export function CopyText({ text, label, block = false }: { text: string; label: string; block?: boolean }) {
  return (
    <Group wrap={block ? 'wrap' : 'nowrap'} align="flex-start" gap="xs">
      <Code block={block} className="anywhere" flex={1} aria-label={label} tabIndex={block ? 0 : -1}>
        {text}
      </Code>
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <Button size="xs" onClick={copy} aria-label={`Copy ${label}`}>
            {copied ? 'Copied' : 'Copy'}
          </Button>
        )}
      </CopyButton>
    </Group>
  );
}
