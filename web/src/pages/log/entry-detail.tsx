import { plural, t } from '@lingui/core/macro';
import { Anchor, Button, CopyButton, Group, Title } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { FILTER_ACTIONS, type FilterAction } from '../../../../src/kernel/facts/filter-types.ts';
import { isHookKind } from '../../../../src/kernel/facts/hooks.ts';
import type { LogDetail, RejectedRequest, Verification } from '../../api/schema.ts';
import { useAccount, useHasRole } from '../../api/session.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { CopyText } from '../../parts/copy-text.tsx';
import { curl } from '../../parts/curl.ts';
import { formatDateTime } from '../../parts/format.ts';
import { notify } from '../../parts/notify.tsx';
import { escapeInvisible, escapeInvisibleJson } from '../../parts/verdict/escape-invisible.ts';
import { Verdict } from '../../parts/verdict/verdict.tsx';
import { addFilter, filtersKey, removeFilter } from '../filters/queries.ts';
import { levelText } from './rows.ts';
import { sourceOf } from './source.ts';

/** A verification with its facts, verdict and evidence. */
export function EntryDetail({ detail: { entry, reply } }: { detail: LogDetail }) {
  const { list } = entry;
  const { message } = reply.checks.smtp;
  const facts: readonly (readonly [name: string, value: ReactNode])[] = [
    [t`Time`, formatDateTime(entry.created_at)],
    ...(list === null ? [] : [[t`List`, <ListLink key="list" of={list} />] as const]),
    [t`Source`, <Source key="source" of={entry} />],
    [t`IP address`, entry.client_ip ?? t`Unknown`],
    [t`Level`, levelText(entry)],
    ['ID', <CopyText key="id" label="ID" text={entry.id} />],
    // Earlier versions recorded neither.
    ...(reply.seen == null ? [] : [[t`Seen in its scope`, seenText(reply.seen)] as const]),
    ...(reply.decision == null ? [] : [[t`Decision`, decisionText(reply.decision)] as const]),
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
      <section aria-label={t`Verdict`}>
        <Title order={2} mb="sm">{t`Verdict`}</Title>
        <Verdict reply={reply}>
          {message != null && (
            <blockquote className="said" aria-label={t`What the mail server said`}>
              {[reply.checks.smtp.code, reply.checks.smtp.enhanced_code, escapeInvisible(message)].join(' ')}
            </blockquote>
          )}
        </Verdict>
      </section>
      <EntryActions of={entry} />
      <RawReply json={escapeInvisibleJson(reply)} />
    </>
  );
}

/** `3 times since 20 November 2026 …, spelled otherwise the first time` */
function seenText({ before, count, first_at, same_spelling }: NonNullable<Verification['seen']>): string {
  if (!before) return t`for the first time`;
  const [times, since] = [plural(count, { one: '# time', other: '# times' }), formatDateTime(first_at)];
  return same_spelling ? t`${times} since ${since}` : t`${times} since ${since}, spelled otherwise the first time`;
}

/** `reject, because of disposable` */
const decisionText = ({ action, because }: NonNullable<Verification['decision']>): string =>
  because.length === 0 ? action : t`${action}, because of ${because.join(', ')}`;

const ListLink = ({ of: { id, name } }: { of: NonNullable<LogDetail['entry']['list']> }) => (
  <Anchor fz="sm" className="anywhere" renderRoot={(props) => <Link {...props} to="/lists/$id" params={{ id }} />}>
    {name}
  </Anchor>
);

/** The reply as the API returned it. */
function RawReply({ json }: { json: string }) {
  return (
    <details>
      <summary>{t`JSON reply`}</summary>
      <CopyText label={t`JSON reply`} text={json} block />
    </details>
  );
}

type Entry = LogDetail['entry'];

/** Who asked, with a link to the key. */
export function Source({ of }: { of: Pick<Entry | RejectedRequest, 'key' | 'via'> }) {
  const { key, via } = of;
  if (key === null || isHookKind(via)) return sourceOf(of);
  return (
    <Anchor
      fz="sm"
      className="anywhere"
      renderRoot={(props) => <Link {...props} to="/settings/keys/$id" params={{ id: key.id }} />}
    >
      {sourceOf(of)}
    </Anchor>
  );
}

/** What can be blocked or allowed of an address. Null: it has no domain. */
const domainOf = (email: string): string | null => /@([^\s@]+\.[^\s@.]{2,})$/.exec(email)?.[1]?.toLowerCase() ?? null;

/** A filter that is about to be added. */
interface Wanted {
  readonly action: FilterAction;
  readonly value: string;
}

/** What can be done with the address of an entry. */
function EntryActions({ of }: { of: Entry }) {
  const { email, requested } = of;
  const { id: account } = useAccount();
  const mayChange = useHasRole('member');
  const client = useQueryClient();
  const [wanted, setWanted] = useState<Wanted | null>(null);
  // The words of the dialog stay while it closes.
  const [shown, setShown] = useState<Wanted>({ action: 'block', value: '' });
  const domain = domainOf(email);
  const ask = (action: Wanted['action'], value: string) => () => {
    setShown({ action, value });
    setWanted({ action, value });
  };
  async function add() {
    const added = await addFilter(account, { ...shown, reason: null });
    await client.invalidateQueries({ queryKey: filtersKey(account) });
    void notify([WORDS[shown.action].done(added.value), ...added.warnings].join(' '), async () => {
      await removeFilter(account, added.id);
      await client.invalidateQueries({ queryKey: filtersKey(account) });
    });
  }
  const request = { method: 'POST', url: `${location.origin}/v1/verify`, key: null } as const;
  return (
    <section aria-label={t`Actions`}>
      <Group gap="xs">
        {(mayChange ? FILTER_ACTIONS : []).map((action) => (
          <Group gap="xs" key={action}>
            <Button size="xs" onClick={ask(action, email)} disabled={domain === null}>
              {WORDS[action].address}
            </Button>
            <Button size="xs" onClick={ask(action, domain ?? '')} disabled={domain === null}>
              {WORDS[action].domain}
            </Button>
          </Group>
        ))}
        {mayChange && (
          <Button
            size="xs"
            renderRoot={(props) => <Link {...props} to="/verify" search={{ email }} />}
          >{t`Verify again`}</Button>
        )}
        <Copy label={t`Copy address`} text={email} />
        <Copy label={t`Copy as curl`} text={curl({ ...request, body: { email, validation_type: requested } })} />
      </Group>
      <ConfirmDialog
        opened={wanted !== null}
        onClose={() => setWanted(null)}
        title={WORDS[shown.action].ask(shown.value)}
        action={WORDS[shown.action].name}
        isLoss={false}
        onConfirm={add}
      >
        {WORDS[shown.action].effect} {shown.value === domain && t`Its subdomains are included.`}{' '}
        {t`It becomes a row on the page Filters.`}
      </ConfirmDialog>
    </section>
  );
}

const WORDS = {
  block: {
    name: t`Block`,
    address: t`Block address`,
    domain: t`Block domain`,
    ask: (value: string) => t`Block ${value}?`,
    effect: t`Requests for it get “blocked by your filter” from now on, and no mail server is asked.`,
    done: (value: string) => t`${value} is blocked.`,
  },
  allow: {
    name: t`Allow`,
    address: t`Allow address`,
    domain: t`Allow domain`,
    ask: (value: string) => t`Allow ${value}?`,
    effect: t`Filters that would block it no longer do.`,
    done: (value: string) => t`${value} is allowed.`,
  },
} as const satisfies Readonly<Record<FilterAction, unknown>>;

const Copy = ({ label, text }: { label: string; text: string }) => (
  <CopyButton value={text}>
    {({ copied, copy }) => (
      <Button size="xs" onClick={copy}>
        {copied ? t`Copied` : label}
      </Button>
    )}
  </CopyButton>
);
