import { SegmentedControl } from '@mantine/core';
import { type ReactNode, useSyncExternalStore } from 'react';
import { CodeBlock } from '../../parts/code-block.tsx';
import { LANGUAGES, type Language } from './samples.ts';

/** The language that was chosen last, on whichever page. */
let chosen: Language = 'curl';
const listeners = new Set<() => void>();
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};
function choose(language: Language): void {
  chosen = language;
  for (const listener of listeners) listener();
}

/** A sample in the language of the reader's choice. `title`: to the left of the choice. */
export function SampleBlock({ title, write }: { title?: ReactNode; write: (language: Language) => string }) {
  const language = useSyncExternalStore(subscribe, () => chosen);
  const choice = (
    <SegmentedControl
      size="xs"
      aria-label="Language of the sample"
      data={[...LANGUAGES]}
      value={language}
      onChange={(value) => choose(LANGUAGES.find((name) => name === value) ?? 'curl')}
    />
  );
  return <CodeBlock label={`sample in ${language}`} header={choice} title={title} code={write(language)} />;
}
