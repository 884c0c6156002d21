import { t } from '@lingui/core/macro';
import { SegmentedControl } from '@mantine/core';
import { type ReactNode, useSyncExternalStore } from 'react';
import { CodeBlock } from '../../parts/code-block.tsx';
import { createListeners } from '../../parts/listeners.ts';
import { LANGUAGES, type Language } from './samples.ts';

/** The language that was chosen last, on whichever page. */
let chosen: Language = 'curl';
const listeners = createListeners();
function choose(language: Language): void {
  chosen = language;
  listeners.changed();
}

/** A sample in the language of the reader's choice. `title`: to the left of the choice. */
export function SampleBlock({ title, write }: { title?: ReactNode; write: (language: Language) => string }) {
  const language = useSyncExternalStore(listeners.subscribe, () => chosen);
  const choice = (
    <SegmentedControl
      size="xs"
      aria-label={t`Language of the sample`}
      data={[...LANGUAGES]}
      value={language}
      onChange={(value) => choose(LANGUAGES.find((name) => name === value) ?? 'curl')}
    />
  );
  return <CodeBlock label={t`sample in ${language}`} header={choice} title={title} code={write(language)} />;
}
