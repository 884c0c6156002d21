import { t } from '@lingui/core/macro';
import { TextInput } from '@mantine/core';
import { Suspense, useId, useState } from 'react';
import { rememberKey, useRememberedKey } from '../../api/remembered-key.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { lazyPart, notDrawn, PartBoundary } from '../../parts/lazy.tsx';
import { type Entry, uploadType } from './document.ts';
import { useDocument } from './query.ts';
import css from './reference.module.css';
import { SampleBlock } from './sample-block.tsx';
import { RECEIVER, sampleOf } from './samples.ts';

/** Only with a test key. */
const TryIt = lazyPart(() => import('./try-it.tsx'), 'TryIt');

/** The request in each language, with a key where one is known; of an event, a server that receives it. */
export function SamplePanel({ entry }: { entry: Entry }) {
  const document = useDocument();
  const key = useRememberedKey();
  if (entry.kind === 'event')
    return <CodeBlock label={t`receiver in TypeScript`} header={t`A receiver in TypeScript`} code={RECEIVER} />;
  return (
    <>
      <SampleBlock write={(language) => sampleOf(language, document, entry, location.origin, key)} />
      <KeyField />
      {key?.startsWith('mv_test_') && uploadType(entry.operation) === null && (
        <PartBoundary part={TryIt} failed={notDrawn}>
          <Suspense fallback={null}>
            <TryIt entry={entry} testKey={key} />
          </Suspense>
        </PartBoundary>
      )}
    </>
  );
}

const KEY = /^mv_(live|test)_\w+$/;

/** A key to fill in, of which only the memory of this tab knows. */
export function KeyField() {
  const key = useRememberedKey();
  const [typed, setTyped] = useState(key ?? '');
  const id = useId();
  const isWrong = typed !== '' && !KEY.test(typed);
  return (
    <div className={css.key}>
      <TextInput
        id={id}
        label={t`API key in the samples`}
        placeholder="mv_test_…"
        description={
          key?.startsWith('mv_live_')
            ? t`This is a live key: requests with it cost credits.`
            : t`With a test key, requests can be sent from here, and cost nothing. It stays in the memory of this tab, until it is reloaded.`
        }
        error={isWrong && t`This is not an API key, which starts with mv_test_ or mv_live_.`}
        value={typed}
        maxLength={100}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => {
          const next = event.currentTarget.value.trim();
          setTyped(next);
          rememberKey(KEY.test(next) ? next : null);
        }}
      />
    </div>
  );
}
