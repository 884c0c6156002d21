import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Title } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { CodeBlock } from '../../parts/code-block.tsx';
import { NotFound } from '../../parts/not-found.tsx';
import { Page } from '../../parts/page.tsx';
import { Prose } from '../../parts/prose.tsx';
import { type Entry, entries, errorRepliesOf, type Media, scopesOf, successOf, titleOf } from './document.ts';
import { useDocument } from './query.ts';
import css from './reference.module.css';
import { SamplePanel } from './sample-panel.tsx';
import { type Field, fieldsOf, resolverOf, typeAndMeaning, typeName } from './schema.ts';

/** The fields of a body. */
function Body({ media: { schema } }: { media: Media }) {
  const resolve = resolverOf(useDocument());
  const fields = fieldsOf(schema, resolve);
  if (fields.length === 0)
    return (
      <p>
        <Prose text={typeName(resolve(schema), resolve)} />
      </p>
    );
  return <Fields fields={fields} />;
}

const Fields = ({ fields }: { fields: readonly Omit<Field, 'path'>[] }) => (
  <ul className={css.fields}>
    {fields.map(({ name, type, required, meaning, fields: inner }) => (
      <li key={name}>
        <div className={css.line}>
          <code className="mono">{name}</code>
          <span className={css.type}>
            <Prose text={type} />
          </span>
          {!required && <span className={css.tag}>{t`optional`}</span>}
        </div>
        {meaning && (
          <p>
            <Prose text={meaning} />
          </p>
        )}
        {inner.length > 0 && (
          <details>
            <summary>
              <Trans>
                Fields of <code className="mono">{name}</code>
              </Trans>
            </summary>
            <Fields fields={inner} />
          </details>
        )}
      </li>
    ))}
  </ul>
);

const JSON_TYPE = 'application/json';

/** One operation of the API, or one event of webhooks. */
export function ReferenceOperationPage() {
  const { operation: id } = useParams({ from: '/docs/$operation' });
  const entry = entries(useDocument()).find(({ operation }) => operation.operationId === id);
  if (entry === undefined) return <NotFound inside />;
  return <Described key={id} entry={entry} />;
}

function Headers({ of }: { of: NonNullable<NonNullable<ReturnType<typeof successOf>>[1]['headers']> }) {
  const resolve = resolverOf(useDocument());
  const fields = Object.entries(of).map(([name, { description: meaning = '', schema = {} }]) => ({
    name,
    type: typeAndMeaning(schema, resolve)[0],
    required: true,
    meaning,
    fields: [],
  }));
  return (
    <details>
      <summary>{t`Headers`}</summary>
      <Fields fields={fields} />
    </details>
  );
}

function Described({ entry }: { entry: Entry }) {
  const { kind, method, path, operation } = entry;
  const { description, parameters = [], requestBody } = operation;
  const resolve = resolverOf(useDocument());
  const [status, reply] = successOf(operation) ?? [];
  const scopes = scopesOf(operation);
  const refusals = errorRepliesOf(operation);
  const fieldsIn = (place: string) =>
    parameters
      .filter((parameter) => parameter.in === place)
      .map(({ name, required = false, schema = {}, description: words }) => {
        const [type, meaning] = typeAndMeaning(schema, resolve, words);
        return { name, type, required, meaning, fields: [] };
      });
  return (
    <Page
      title={titleOf(entry)}
      about={
        <div className={css.about}>
          <p>
            {kind === 'operation' && <b>{method}</b>} <code className="mono anywhere">{path}</code>
          </p>
          {description && (
            <p>
              <Prose text={description} />
            </p>
          )}
          {scopes.length > 0 && (
            <p>
              <Prose text={t`The key needs the scope ${scopes.map((scope) => `\`${scope}\``).join(', ')}.`} />
            </p>
          )}
        </div>
      }
    >
      <div className={css.columns}>
        <div className={css.samples}>
          <SamplePanel entry={entry} />
          <Example label={kind === 'event' ? t`payload` : t`reply`} media={requestOrReply(entry)?.[JSON_TYPE]} />
        </div>
        <div className={css.words}>
          {PLACES.map(([place, title]) => {
            const fields = fieldsIn(place);
            return (
              fields.length > 0 && (
                <Section key={place} title={title}>
                  <Fields fields={fields} />
                </Section>
              )
            );
          })}
          {requestBody && (
            <Section title={kind === 'event' ? t`What is sent` : t`Request body`}>
              {requestBody.description && (
                <p>
                  <Prose text={requestBody.description} />
                </p>
              )}
              <Contents content={requestBody.content} />
            </Section>
          )}
          {reply && status !== undefined && (
            <Section title={kind === 'event' ? t`What you answer` : t`Reply ${status}`}>
              <p>
                <Prose text={reply.description} />
              </p>
              {reply.content && <Contents content={reply.content} />}
              {reply.headers && <Headers of={reply.headers} />}
            </Section>
          )}
          {kind === 'operation' && refusals.length > 0 && (
            <Section title={t`Errors`}>
              <p>
                <Trans>
                  What to do about each is on the <a href="/guide/errors">page of errors</a>.
                </Trans>
              </p>
              {refusals.map(([code, examples]) => (
                <ErrorsOf key={code} status={code} examples={examples} />
              ))}
            </Section>
          )}
        </div>
      </div>
    </Page>
  );
}

const PLACES = [
  ['path', t`Path parameters`],
  ['query', t`Query parameters`],
  ['header', t`Headers`],
] as const;

const requestOrReply = ({ kind, operation }: Entry) =>
  kind === 'event' ? operation.requestBody?.content : successOf(operation)?.[1].content;

const Section = ({ title, children }: { title: string; children: ReactNode }) => (
  <section className={css.section}>
    <Title order={2}>{title}</Title>
    {children}
  </section>
);

/** The fields of the body in JSON, and what else it may be. */
function Contents({ content }: { content: Readonly<Record<string, Media>> }) {
  const json = content[JSON_TYPE]?.schema.format === 'binary' ? undefined : content[JSON_TYPE];
  const others = Object.keys(content).filter((type) => json === undefined || type !== JSON_TYPE);
  return (
    <>
      {others.length > 0 && (
        <p>
          <Prose text={`${json ? t`JSON, or` : t`As`} ${others.map((type) => `\`${type}\``).join(', ')}.`} />
        </p>
      )}
      {json && <Body media={json} />}
    </>
  );
}

const Example = ({ label, media }: { label: string; media: Media | undefined }) =>
  media?.example !== undefined && (
    <CodeBlock
      label={t`example of the ${label}`}
      header={t`Example of the ${label}`}
      code={JSON.stringify(media.example, null, 2)}
    />
  );

const ErrorsOf = ({ status, examples }: { status: string; examples: ReturnType<typeof errorRepliesOf>[number][1] }) => (
  <ul className={css.errors}>
    {examples.map(({ code, message, example }) => (
      <li key={code}>
        <details>
          <summary>
            <span className="numbers">{status}</span> <code className="mono">{code}</code>
            <span className={css.message}>{message}</span>
          </summary>
          <CodeBlock label={t`example of ${code}`} header={t`Example`} code={JSON.stringify(example, null, 2)} />
        </details>
      </li>
    ))}
  </ul>
);
