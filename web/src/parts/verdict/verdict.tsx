import { t } from '@lingui/core/macro';
import { Plural, Trans } from '@lingui/react/macro';
import { Badge, Button, Group, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { keysOf } from '../../../../src/kernel/facts/keys-of.ts';
import type { ProviderKind } from '../../../../src/kernel/facts/reasons.ts';
import type { Verification } from '../../api/schema.ts';
import { type Column, DataTable } from '../data-table.tsx';
import { formatDateTime, formatMs } from '../format.ts';
import { Glyph } from '../glyph.tsx';
import { decidingLines } from './deciding-line.ts';
import { escapeInvisible } from './escape-invisible.ts';
import { outcomeOf, reasonName } from './outcome.ts';
import { retryWords, wordsOf } from './reasons.ts';
import { SYNTAX_ERROR_NAMES } from './syntax-errors.ts';
import css from './verdict.module.css';
import { Address } from './verdict-line.tsx';

type EvidenceData = NonNullable<Verification['evidence']>;

const SPEAKERS = { client: 'Mailvet', server: t`Server`, note: t`Note` } as const;

type MailServer = NonNullable<Verification['checks']['mx']['records']>[number] & {
  /** Null: not looked up, or not kept. */
  readonly addresses: readonly string[] | null;
  readonly unusable: string | null;
};

/** The mail servers that the domain names, with what was found about each; all of it is untrusted text. */
function mailServersOf({ checks, evidence }: Verification): readonly MailServer[] {
  const { mail_hosts = [], unusable_hosts = [] } = evidence ?? {};
  // A domain without MX records is its own mail server.
  const records = checks.mx.records?.length ? checks.mx.records : mail_hosts;
  return records.map(({ host, priority }) => ({
    host,
    priority,
    addresses: mail_hosts.find((one) => one.host === host)?.addresses ?? null,
    unusable: unusable_hosts.find((one) => one.host === host)?.why ?? null,
  }));
}

const MAIL_SERVERS: readonly Column<MailServer>[] = [
  { header: t`Host`, cell: ({ host }) => <span className="mono anywhere">{escapeInvisible(host)}</span> },
  { header: t`Priority`, cell: ({ priority }) => priority, numeric: true },
];
const ADDRESSES: Column<MailServer> = {
  header: t`IP addresses`,
  folds: true,
  cell: ({ addresses, unusable }) =>
    unusable === null ? (
      <span className="mono anywhere">{addresses?.join(', ')}</span>
    ) : (
      <span className="anywhere">
        <Trans>Unusable: {escapeInvisible(unusable)}</Trans>
      </span>
    ),
};

function MailServers({ of }: { of: Verification }) {
  const servers = mailServersOf(of);
  if (servers.length === 0) return null;
  const isLookedUp = servers.some(({ addresses, unusable }) => addresses !== null || unusable !== null);
  return (
    <section aria-label={t`Mail servers`}>
      <Title order={3} mb="xs">{t`Mail servers`}</Title>
      <DataTable
        label={t`Mail servers`}
        columns={isLookedUp ? [...MAIL_SERVERS, ADDRESSES] : MAIL_SERVERS}
        rows={servers}
        rowKey={({ host, priority }) => `${priority} ${host}`}
      />
    </section>
  );
}

function Transcript({
  smtp,
  check,
}: {
  smtp: NonNullable<EvidenceData['smtp']>;
  check: Verification['checks']['smtp'];
}) {
  const deciding = decidingLines(smtp.transcript, check);
  const facts = [
    smtp.host && t`Host: ${escapeInvisible(smtp.host)}`,
    smtp.address && t`IP address: ${smtp.address}`,
    t`TLS: ${smtp.tls ? t`yes` : t`no`}`,
    smtp.rule && t`Rule: ${smtp.rule}`,
  ].filter(Boolean);
  return (
    <div>
      <Title order={3}>{t`SMTP transcript`}</Title>
      <Text size="sm" c="dimmed" mb="xs" className="anywhere">
        <Trans>
          {facts.join(' · ')}. Times are in seconds from the start of the session. The local part of the address is
          redacted.
        </Trans>
      </Text>
      {smtp.transcript.length === 0 ? (
        <Text>{t`No connection was made.`}</Text>
      ) : (
        <ol className={css.dialogue} aria-label={t`SMTP transcript`}>
          {smtp.transcript.map(({ at, from, text }, i) => (
            <li
              key={`${i} ${at}`}
              data-from={from}
              data-deciding={(deciding !== null && i >= deciding.first && i <= deciding.last) || undefined}
            >
              <span className={css.time}>
                <Trans>{(at / 1000).toFixed(3)} s</Trans>
              </span>
              <span>{SPEAKERS[from]}</span>
              <span>
                <code dir="ltr">{escapeInvisible(text)}</code>
                {i === deciding?.last && <span className={css.decides}>{t`decides`}</span>}
              </span>
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}

type Checks = Verification['checks'];
type Result = Checks['domain']['result'];

interface CheckRow {
  /** Of one, or of some that were skipped for the same cause. */
  readonly title: string;
  readonly result: Result;
  readonly summary: string;
  /** Details as `name: value` pairs. */
  readonly facts: readonly (readonly [name: string, value: string])[];
}

type Fact = readonly [name: string, value: string | number | null | undefined];

interface Check {
  readonly title: string;
  /** What is said of it where it decided, and others were not needed. */
  readonly decided: string;
  readonly results: Readonly<Record<Exclude<Result, 'skipped'>, string>>;
  readonly facts?: (checks: Checks) => readonly Fact[];
}

const unknown = t`Could not be determined.`;

const KIND_WORDS: Readonly<Record<ProviderKind, string>> = {
  mailbox: t`have mailboxes`,
  gateway: t`filter and pass on`,
  hosting: t`are of a web host`,
  forwarder: t`forward`,
  relay: t`hide an address`,
};

/** In the order in which the checks run. */
const CHECKS: Readonly<Record<keyof Checks, Check>> = {
  syntax: {
    title: t`Syntax`,
    decided: t`the syntax decided`,
    results: { pass: t`Valid.`, fail: t`Invalid.`, unknown },
    facts: ({ syntax: { error, index } }) => [
      ['error', error && (SYNTAX_ERROR_NAMES[error] ?? error)],
      ['position', index === undefined ? null : index + 1],
    ],
  },
  filter: {
    title: t`Your filters`,
    decided: t`a filter decided`,
    results: { pass: t`No filter blocks it.`, fail: t`A filter blocks it.`, unknown },
    facts: ({ filter: { id, filter_id = id, action, value } }) => [
      ['filter', filter_id],
      ['action', action],
      ['value', value],
    ],
  },
  disposable: {
    title: t`Disposable lists`,
    decided: t`the disposable list decided`,
    results: {
      pass: t`Not listed.`,
      fail: t`Listed as disposable.`,
      unknown: t`Listed only by less reliable sources. This does not affect the verdict.`,
    },
    facts: ({ disposable: { matched, list_version } }) => [
      ['entry', matched],
      [t`list version`, list_version],
    ],
  },
  domain: {
    title: t`Domain`,
    decided: t`the domain decided`,
    results: { pass: t`Exists.`, fail: t`Does not exist.`, unknown: t`DNS lookup failed.` },
  },
  mx: {
    title: t`Mail servers`,
    decided: t`the mail servers of the domain decided`,
    results: { pass: t`Found.`, fail: t`None usable.`, unknown: t`DNS lookup failed.` },
    facts: ({ mx: { provider, provider_kind: kind, failure } }) => [
      ['provider', provider],
      [t`its hosts`, kind == null ? null : KIND_WORDS[kind]],
      [t`DNS response`, failure],
    ],
  },
  smtp: {
    title: t`Mailbox`,
    decided: t`the mail server decided`,
    results: { pass: t`The server accepts the address.`, fail: t`The server rejects the address.`, unknown },
    facts: ({ smtp: { host, stage, code, enhanced_code, tls, rule, egress } }) => [
      ['host', host],
      ['stage', stage],
      ['code', [code, enhanced_code].filter(Boolean).join(' ')],
      ['TLS', tls === undefined ? null : tls ? 'yes' : 'no'],
      ['rule', rule],
      ['egress', egress],
    ],
  },
  catch_all: {
    title: t`Catch-all`,
    decided: t`the catch-all check decided`,
    results: {
      pass: t`The server rejects a random address.`,
      fail: t`The server accepts any address.`,
      unknown,
    },
    // The answer is remembered for hours.
    facts: ({ catch_all: { checked_at: at } }) => [['answered', at == null ? null : formatDateTime(at)]],
  },
};

/** Why checks were skipped: those after the last one that ran. */
function skippedBecause({ checks, reason, validation_type }: Verification): string {
  if (reason === 'bounced_before') return t`Not needed: earlier mail to the address bounced.`;
  const last = keysOf(CHECKS).findLast((name) => checks[name].result !== 'skipped');
  if (last === undefined) return t`Not needed.`;
  const isOpen = checks[last].result === 'pass' && checks.smtp.result === 'skipped';
  return isOpen ? t`Not part of the ${validation_type} level.` : t`Not needed: ${CHECKS[last].decided}.`;
}

function checkRows(reply: Verification): CheckRow[] {
  const { checks } = reply;
  const names = keysOf(CHECKS);
  const isSkipped = (name: keyof Checks) => checks[name].result === 'skipped';
  const skipped = names.filter(isSkipped).map((name) => CHECKS[name].title);
  const rows = names.flatMap((name): CheckRow[] => {
    const { title, results, facts } = CHECKS[name];
    const { result } = checks[name];
    if (result === 'skipped') return [];
    return [{ title, result, summary: results[result], facts: (facts?.(checks) ?? []).flatMap(present) }];
  });
  if (skipped.length === 0) return rows;
  return [...rows, { title: skipped.join(', '), result: 'skipped', summary: skippedBecause(reply), facts: [] }];
}

const present = ([name, value]: Fact): (readonly [string, string])[] =>
  value === undefined || value === null || value === '' ? [] : [[name, escapeInvisible(String(value))]];

const RESULT_BADGES: Readonly<Record<Result, readonly [sign: string, color: string]>> = {
  pass: ['✓', 'green'],
  fail: ['✗', 'red'],
  unknown: ['?', 'yellow'],
  skipped: ['–', 'gray'],
};

type OnSuggestion = ((email: string) => void) | undefined;

/**
 * A verification in full: verdict, checks, mail servers and evidence. `onSuggestion` is called with the suggested
 * address, if there is one.
 */
export function Verdict(props: { reply: Verification; onSuggestion?: (email: string) => void; children?: ReactNode }) {
  const { reply, onSuggestion, children } = props;
  const { checks, evidence } = reply;
  return (
    <Stack gap="lg">
      <Summary reply={reply} onSuggestion={onSuggestion} />
      {children}
      {checks.syntax.index !== undefined && <SyntaxErrorPosition email={reply.email} index={checks.syntax.index} />}
      <section aria-label={t`Checks`}>
        <Title order={3} mb="xs">{t`Checks`}</Title>
        <dl className={css.checks}>
          {checkRows(reply).map(({ title, result, summary, facts }) => (
            <div key={title} style={{ display: 'contents' }}>
              <dt>{title}</dt>
              <dd>
                <ResultBadge result={result} /> {summary}
                {facts.length > 0 && (
                  <Text size="xs" c="dimmed">
                    {facts.map(([label, value]) => `${label}: ${value}`).join(' · ')}
                  </Text>
                )}
              </dd>
            </div>
          ))}
        </dl>
      </section>
      <MailServers of={reply} />
      {evidence?.smtp && <Transcript smtp={evidence.smtp} check={checks.smtp} />}
    </Stack>
  );
}

function Summary({ reply, onSuggestion }: { reply: Verification; onSuggestion: OnSuggestion }) {
  const { title, meaning, advice } = wordsOf(reply);
  const flags = flagsOf(reply);
  return (
    <Stack gap="xs">
      <Text size="lg" component="div" className="anywhere">
        <Address email={reply.email} of={reply} />
      </Text>
      <div className={css.says} data-outcome={outcomeOf(reply)}>
        <Glyph of={outcomeOf(reply)} size={24} />
        <div>
          {reply.did_you_mean !== null && <Suggestion email={reply.did_you_mean} onSuggestion={onSuggestion} />}
          <b>{title}</b>
          <p>
            {meaning} {advice}
            {reply.retry_after !== null && t` Retry ${retryWords(reply.retry_after)}.`}
          </p>
        </div>
      </div>
      <Text size="sm" c="dimmed">
        <Trans>
          Deliverability: {reply.deliverability}. Reason: {reply.reason === null ? 'none' : reasonName(reply.reason)}.
          Checked at the {reply.validation_type} level in {formatMs(reply.duration_ms)} for{' '}
          <Plural value={reply.credits_used} one="# credit" other="# credits" />.
        </Trans>
      </Text>
      {flags.length > 0 && (
        <Group gap="xs" aria-label={t`Flags`} role="list">
          {flags.map((flag) => (
            <Badge key={flag} role="listitem" variant="default">
              {flag}
            </Badge>
          ))}
        </Group>
      )}
    </Stack>
  );
}

const Suggestion = ({ email, onSuggestion }: { email: string; onSuggestion: OnSuggestion }) => (
  <Group gap="xs" mb={4}>
    <span className="anywhere">
      <Trans>
        Did you mean <b className="mono">{escapeInvisible(email)}</b>?
      </Trans>
    </span>
    {onSuggestion && <Button size="xs" onClick={() => onSuggestion(email)}>{t`Use this address`}</Button>}
  </Group>
);

/** Attributes that do not affect the verdict. */
function flagsOf(reply: Verification): string[] {
  const flags: readonly (readonly [boolean | null, string])[] = [
    [reply.is_role, t`role address`],
    [reply.is_free, t`free provider`],
    [reply.is_relay, t`privacy relay${reply.relay_provider == null ? '' : `: ${reply.relay_provider}`}`],
    [reply.tag !== null, t`tag: ${escapeInvisible(reply.tag ?? '')}`],
  ];
  return flags.flatMap(([is, words]) => (is ? [words] : []));
}

function ResultBadge({ result }: { result: Result }) {
  const [sign, color] = RESULT_BADGES[result];
  return (
    <Badge variant="outline" color={color} tt="none" autoContrast>
      <span aria-hidden>{sign}</span> {result}
    </Badge>
  );
}

/** The address with the position of the syntax error marked; if something is missing, the end. */
function SyntaxErrorPosition({ email, index }: { email: string; index: number }) {
  const character = String.fromCodePoint(...[email.codePointAt(index)].flatMap((code) => code ?? []));
  return (
    <Text size="sm" className="anywhere">
      <Trans>
        Error position: {escapeInvisible(email.slice(0, index))}
        <mark className={css.mark}>{character === '' ? t` (end)` : escapeInvisible(character)}</mark>
        {escapeInvisible(email.slice(index + character.length))}
      </Trans>
    </Text>
  );
}
