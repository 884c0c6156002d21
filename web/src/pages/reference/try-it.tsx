import { t } from '@lingui/core/macro';
import { Button, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { unreachable } from '../../api/client.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { ErrorAlert } from '../../parts/error-alert.tsx';
import { formatMs } from '../../parts/format.ts';
import { useAsyncAction } from '../../parts/use-async-action.ts';
import { bodyExample, type Entry, examplePath, queryExample } from './document.ts';
import { useDocument } from './query.ts';
import css from './reference.module.css';

interface Answered {
  readonly status: number;
  readonly ms: number;
  readonly text: string;
}

/** What is shown of a reply. */
const SHOWN = 20_000;

const pretty = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
};

/** Sends the request with a test key, which costs nothing, and shows the reply. */
export function TryIt({ entry, testKey }: { entry: Entry; testKey: string }) {
  const document = useDocument();
  const { method, operation } = entry;
  const example = bodyExample(operation);
  const [path, setPath] = useState(examplePath(document, entry) + queryExample(operation));
  const [body, setBody] = useState(example === undefined ? null : JSON.stringify(example, null, 2));
  const [answered, setAnswered] = useState<Answered | null>(null);
  const { run, busy, error } = useAsyncAction(async () => {
    setAnswered(null);
    const began = performance.now();
    const headers = {
      authorization: `Bearer ${testKey}`,
      ...(body === null ? {} : { 'content-type': 'application/json' }),
    };
    // The session of the dashboard is none of this request's business.
    const options = { method, headers, body, credentials: 'omit' } as const;
    const reply = await fetch(new URL(path, location.origin), options).catch(() => {
      throw unreachable();
    });
    const text = await reply.text();
    setAnswered({ status: reply.status, ms: performance.now() - began, text: pretty(text).slice(0, SHOWN) });
  });
  return (
    <section className={css.key} aria-label={t`Try it`}>
      <TextInput
        label={t`Path`}
        leftSection={<b>{method}</b>}
        leftSectionWidth={72}
        value={path}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => setPath(event.currentTarget.value)}
      />
      {body !== null && (
        <Textarea
          label={t`Body`}
          className="mono"
          autosize
          minRows={2}
          maxRows={12}
          spellCheck={false}
          value={body}
          onChange={(event) => setBody(event.currentTarget.value)}
        />
      )}
      <Button
        mt="xs"
        onClick={run}
        loading={busy}
        disabled={!path.startsWith('/v1/')}
      >{t`Send with the test key`}</Button>
      {error && <ErrorAlert error={error} />}
      <div role="status">
        {answered && (
          <CodeBlock
            label={t`reply to the request`}
            header={t`${answered.status} after ${formatMs(answered.ms)}`}
            code={answered.text}
          />
        )}
      </div>
    </section>
  );
}
