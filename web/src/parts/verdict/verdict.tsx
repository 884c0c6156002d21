import { Badge, Button, Group, List, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { keysOf } from '../../../../src/kernel/facts/keys-of.ts';
import type { ProviderKind } from '../../../../src/kernel/facts/reasons.ts';
import type { Verification } from '../../api/schema.ts';
import { DataTable } from '../data-table.tsx';
import { formatDateTime, formatMs, pluralize } from '../format.ts';
import { Glyph } from '../glyph.tsx';
import { decidingLine } from './deciding-line.ts';
import { escapeInvisible } from './escape-invisible.ts';
import { outcomeOf, reasonName } from './outcome.ts';
import { retryWords, wordsOf } from './reasons.ts';
import { SYNTAX_ERROR_NAMES } from './syntax-errors.ts';
import css from './verdict.module.css';
import { Address } from './verdict-line.tsx';

type EvidenceData = NonNullable<Verification['evidence']>;

const SPEAKERS = { client: 'Mailvet', server: 'Server', note: 'Note' } as const;

/** Mail servers and the SMTP transcript. All of it is untrusted text. */
function Evidence({ evidence, check }: { evidence: EvidenceData; check: Verification['checks']['smtp'] }) {
  const { mail_hosts, unusable_hosts, smtp } = evidence;
  return (
    <Stack component="section" gap="lg" aria-label="Evidence">
      {mail_hosts.length + unusable_hosts.length > 0 && (
        <div>
          <Title order={3} mb="xs">
            Mail servers
          </Title>
          <List size="sm" listStyleType="none">
            {mail_hosts.map(({ host, priority, addresses }) => (
              <List.Item key={`${priority} ${host}`} className="anywhere">
                {escapeInvisible(host)} (priority {priority}): {addresses.join(', ')}
              </List.Item>
            ))}
            {unusable_hosts.map(({ host, why }) => (
              <List.Item key={host} className="anywhere">
                {escapeInvisible(host)}: unusable, {escapeInvisible(why)}
              </List.Item>
            ))}
          </List>
        </div>
      )}
      {smtp && <Transcript smtp={smtp} check={check} />}
    </Stack>
  );
}

function Transcript({
  smtp,
  check,
}: {
  smtp: NonNullable<EvidenceData['smtp']>;
  check: Verification['checks']['smtp'];
}) {
  const deciding = decidingLine(smtp.transcript, check);
  const facts = [
    smtp.host && `Host: ${escapeInvisible(smtp.host)}`,
    smtp.address && `IP address: ${smtp.address}`,
    `TLS: ${smtp.tls ? 'yes' : 'no'}`,
    smtp.rule && `Rule: ${smtp.rule}`,
  ].filter(Boolean);
  return (
    <div>
      <Title order={3}>SMTP transcript</Title>
      <Text size="sm" c="dimmed" mb="xs" className="anywhere">
        {facts.join(' · ')}. Times are in seconds from the start of the session. The local part of the address is
        redacted.
      </Text>
      {smtp.transcript.length === 0 ? (
        <Text>No connection was made.</Text>
      ) : (
        <ol className={css.dialogue} aria-label="SMTP transcript">
          {smtp.transcript.map(({ at, from, text }, i) => (
            <li key={`${i} ${at}`} data-from={from} data-deciding={i === deciding || undefined}>
              <span className={css.time}>{(at / 1000).toFixed(3)} s</span>
              <span>{SPEAKERS[from]}</span>
              <span>
                <code dir="ltr">{escapeInvisible(text)}</code>
                {i === deciding && <span className={css.decides}>decides</span>}
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
  readonly name: keyof Checks;
  readonly title: string;
  readonly result: Result;
  readonly summary: string;
  /** Details as `name: value` pairs. */
  readonly facts: readonly (readonly [name: string, value: string])[];
}

type Fact = readonly [name: string, value: string | number | null | undefined];

interface Check {
  readonly title: string;
  readonly results: Readonly<Record<Result, string>>;
  readonly facts?: (checks: Checks) => readonly Fact[];
}

const skipped = 'Skipped: an earlier check decided, or the level does not include this check.';
const unknown = 'Could not be determined.';

const KIND_WORDS: Readonly<Record<ProviderKind, string>> = {
  mailbox: 'have mailboxes',
  gateway: 'filter and pass on',
  hosting: 'are of a web host',
  forwarder: 'forward',
  relay: 'hide an address',
};

/** In the order in which the checks run. */
const CHECKS: Readonly<Record<keyof Checks, Check>> = {
  syntax: {
    title: 'Syntax',
    results: { pass: 'Valid.', fail: 'Invalid.', unknown, skipped },
    facts: ({ syntax: { error, index } }) => [
      ['error', error && (SYNTAX_ERROR_NAMES[error] ?? error)],
      ['position', index === undefined ? null : index + 1],
    ],
  },
  filter: {
    title: 'Your filters',
    results: { pass: 'No filter blocks it.', fail: 'A filter blocks it.', unknown, skipped },
    facts: ({ filter: { id, filter_id = id, action, value } }) => [
      ['filter', filter_id],
      ['action', action],
      ['value', value],
    ],
  },
  disposable: {
    title: 'Disposable lists',
    results: {
      pass: 'Not listed.',
      fail: 'Listed as disposable.',
      unknown: 'Listed only by less reliable sources. This does not affect the verdict.',
      skipped,
    },
    facts: ({ disposable: { matched, list_version } }) => [
      ['entry', matched],
      ['list version', list_version],
    ],
  },
  domain: {
    title: 'Domain',
    results: { pass: 'Exists.', fail: 'Does not exist.', unknown: 'DNS lookup failed.', skipped },
  },
  mx: {
    title: 'Mail servers',
    results: { pass: 'Found.', fail: 'None usable.', unknown: 'DNS lookup failed.', skipped },
    facts: ({ mx: { provider, provider_kind: kind, failure } }) => [
      ['provider', provider],
      ['its hosts', kind == null ? null : KIND_WORDS[kind]],
      ['DNS response', failure],
    ],
  },
  smtp: {
    title: 'Mailbox',
    results: { pass: 'The server accepts the address.', fail: 'The server rejects the address.', unknown, skipped },
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
    title: 'Catch-all',
    results: {
      pass: 'The server rejects a random address.',
      fail: 'The server accepts any address.',
      unknown,
      skipped,
    },
    // The answer is remembered for hours.
    facts: ({ catch_all: { checked_at: at } }) => [['answered', at == null ? null : formatDateTime(at)]],
  },
};

function checkRows(checks: Checks): CheckRow[] {
  return keysOf(CHECKS).map((name) => {
    const { title, results, facts } = CHECKS[name];
    const { result } = checks[name];
    return { name, title, result, summary: results[result], facts: (facts?.(checks) ?? []).flatMap(present) };
  });
}

const present = ([name, value]: Fact): (readonly [string, string])[] =>
  value === undefined || value === null || value === '' ? [] : [[name, escapeInvisible(String(value))]];

const RESULT_BADGES: Readonly<Record<Result, readonly [sign: string, color: string]>> = {
  pass: ['✓', 'green'],
  fail: ['✗', 'red'],
  unknown: ['?', 'yellow'],
  skipped: ['–', 'gray'],
};

/**
 * A verification in full: verdict, checks, mail servers and evidence. `onSuggestion` is called with the suggested
 * address, if there is one.
 */
export function Verdict(props: { reply: Verification; onSuggestion?: (email: string) => void; children?: ReactNode }) {
  const { reply, onSuggestion, children } = props;
  const { did_you_mean, checks, evidence } = reply;
  return (
    <Stack gap="lg">
      <Summary reply={reply} />
      {children}
      {did_you_mean !== null && (
        <Group gap="xs">
          <Text size="sm">
            Did you mean:{' '}
            <Text span fw={600} className="anywhere">
              {escapeInvisible(did_you_mean)}
            </Text>
          </Text>
          {onSuggestion && (
            <Button size="xs" onClick={() => onSuggestion(did_you_mean)}>
              Use this address
            </Button>
          )}
        </Group>
      )}
      {checks.syntax.index !== undefined && <SyntaxErrorPosition email={reply.email} index={checks.syntax.index} />}
      <section aria-label="Checks">
        <Title order={3} mb="xs">
          Checks
        </Title>
        <dl className={css.checks}>
          {checkRows(checks).map(({ name, title, result, summary, facts }) => (
            <div key={name} style={{ display: 'contents' }}>
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
      {checks.mx.records && checks.mx.records.length > 0 && (
        <section aria-label="MX records">
          <Title order={3} mb="xs">
            MX records
          </Title>
          <DataTable
            label="Published MX records"
            columns={[
              { header: 'Host', cell: (record) => <span className="anywhere">{escapeInvisible(record.host)}</span> },
              { header: 'Priority', cell: (record) => record.priority, numeric: true },
            ]}
            rows={checks.mx.records}
            rowKey={(record) => `${record.priority} ${record.host}`}
          />
        </section>
      )}
      {evidence && <Evidence evidence={evidence} check={checks.smtp} />}
    </Stack>
  );
}

function Summary({ reply }: { reply: Verification }) {
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
          <b>{title}</b>
          <p>
            {meaning} {advice}
            {reply.retry_after !== null && ` Retry ${retryWords(reply.retry_after)}.`}
          </p>
        </div>
      </div>
      <Text size="sm" c="dimmed">
        Deliverability: {reply.deliverability}. Reason: {reply.reason === null ? 'none' : reasonName(reply.reason)}.
        Checked at the {reply.validation_type} level in {formatMs(reply.duration_ms)} for{' '}
        {pluralize(reply.credits_used, 'credit')}.
      </Text>
      {flags.length > 0 && (
        <Group gap="xs" aria-label="Flags" role="list">
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

/** Attributes that do not affect the verdict. */
function flagsOf(reply: Verification): string[] {
  const flags: readonly (readonly [boolean | null, string])[] = [
    [reply.is_role, 'role address'],
    [reply.is_free, 'free provider'],
    [reply.is_relay, `privacy relay${reply.relay_provider == null ? '' : `: ${reply.relay_provider}`}`],
    [reply.tag !== null, `tag: ${escapeInvisible(reply.tag ?? '')}`],
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
      Error position: {escapeInvisible(email.slice(0, index))}
      <mark className={css.mark}>{character === '' ? ' (end)' : escapeInvisible(character)}</mark>
      {escapeInvisible(email.slice(index + character.length))}
    </Text>
  );
}
