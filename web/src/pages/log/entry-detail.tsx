import { Anchor, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { LogDetail, Verification } from '../../api/schema.ts';
import { CopyText } from '../../parts/copy-text.tsx';
import { formatDateTime, pluralize } from '../../parts/format.ts';
import { escapeInvisibleJson } from '../../parts/verdict/escape-invisible.ts';
import { Verdict } from '../../parts/verdict/verdict.tsx';
import { levelText } from './rows.ts';
import { sourceOf } from './source.ts';

/** A verification with its facts, verdict and evidence. */
export function EntryDetail({ detail: { entry, reply } }: { detail: LogDetail }) {
  const { list } = entry;
  const facts: readonly (readonly [name: string, value: ReactNode])[] = [
    ['Time', formatDateTime(entry.created_at)],
    ...(list === null ? [] : [['List', <ListLink key="list" of={list} />] as const]),
    ['Source', sourceOf(entry)],
    ['IP address', entry.client_ip ?? 'Unknown'],
    ['Level', levelText(entry)],
    // Earlier versions recorded neither.
    ...(reply.seen == null ? [] : [['Seen in its scope', seenText(reply.seen)] as const]),
    ...(reply.decision == null ? [] : [['Decision', decisionText(reply.decision)] as const]),
  ];
  return (
    <>
      <dl className="descriptions">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className="anywhere">{value}</dd>
          </div>
        ))}
      </dl>
      <section aria-label="Verdict">
        <Title order={2} mb="sm">
          Verdict
        </Title>
        <Verdict reply={reply} />
      </section>
      <RawReply json={escapeInvisibleJson(reply)} />
    </>
  );
}

/** `3 times since 20 November 2026 …, spelled otherwise the first time` */
const seenText = ({ before, count, first_at, same_spelling }: NonNullable<Verification['seen']>): string =>
  before
    ? `${pluralize(count, 'time')} since ${formatDateTime(first_at)}${same_spelling ? '' : ', spelled otherwise the first time'}`
    : 'for the first time';

/** `reject, because of disposable` */
const decisionText = ({ action, because }: NonNullable<Verification['decision']>): string =>
  because.length === 0 ? action : `${action}, because of ${because.join(', ')}`;

const ListLink = ({ of: { id, name } }: { of: NonNullable<LogDetail['entry']['list']> }) => (
  <Anchor fz="sm" className="anywhere" renderRoot={(props) => <Link {...props} to="/lists/$id" params={{ id }} />}>
    {name}
  </Anchor>
);

/** The reply as the API returned it. */
function RawReply({ json }: { json: string }) {
  return (
    <details>
      <summary>JSON reply</summary>
      <CopyText label="JSON reply" text={json} block />
    </details>
  );
}
