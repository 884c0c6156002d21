import { t } from '@lingui/core/macro';
import { Button, Code, CopyButton, Group } from '@mantine/core';

/** A text with a copy button. `label` names it for assistive technology. */
export function CopyText({ text, label, block = false }: { text: string; label: string; block?: boolean }) {
  return (
    <Group wrap={block ? 'wrap' : 'nowrap'} align="flex-start" gap="xs">
      <Code block={block} className="anywhere" flex={1} aria-label={label} tabIndex={block ? 0 : -1}>
        {text}
      </Code>
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <Button size="xs" onClick={copy} aria-label={t`Copy ${label}`}>
            {copied ? t`Copied` : t`Copy`}
          </Button>
        )}
      </CopyButton>
    </Group>
  );
}
