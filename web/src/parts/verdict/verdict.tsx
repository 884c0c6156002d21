import { Badge, Button, Group, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Verification } from '../../api/schema.ts';
import { DataTable } from '../data-table.tsx';
import { humanize, pluralize } from '../format.ts';
import { Glyph } from '../glyph.tsx';
import { checkRows, type Result } from './checks.ts';
import { escapeInvisible } from './escape-invisible.ts';
import { Evidence } from './evidence.tsx';
import { outcomeOf } from './outcome.ts';
import { retryWords, wordsOf } from './reasons.ts';
import css from './verdict.module.css';
import { Address } from './verdict-line.tsx';

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
        Deliverability: {reply.deliverability}. Reason: {reply.reason === null ? 'none' : humanize(reply.reason)}.
        Checked at the {reply.validation_type} level in {pluralize(reply.duration_ms, 'millisecond')} for{' '}
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
    [reply.is_relay, 'privacy relay'],
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
