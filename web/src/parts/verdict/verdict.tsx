import { Alert, Badge, Button, Group, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Verification } from '../../api/schema.ts';
import { DataTable } from '../data-table.tsx';
import { counted, spoken } from '../words.ts';
import { checkRows, type Result } from './checks.ts';
import { Evidence } from './evidence.tsx';
import { headline, retryWords, wordsOf } from './reasons.ts';
import css from './verdict.module.css';
import { visible } from './visible.ts';

const SIGNS: Readonly<Record<Result, readonly [sign: string, color: string]>> = {
  pass: ['✓', 'green'],
  fail: ['✗', 'red'],
  unknown: ['?', 'yellow'],
  skipped: ['–', 'gray'],
};

/**
 * One verification in full: the verdict in words, the seven checks, the mail servers, and the evidence where there is
 * some. `onSuggestion` is offered where another address was probably meant.
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
            Probably meant:{' '}
            <Text span fw={600} className="anywhere">
              {visible(did_you_mean)}
            </Text>
          </Text>
          {onSuggestion && (
            <Button size="xs" onClick={() => onSuggestion(did_you_mean)}>
              Use this address
            </Button>
          )}
        </Group>
      )}
      {checks.syntax.index !== undefined && <Place email={reply.email} index={checks.syntax.index} />}
      <section aria-label="Checks">
        <Title order={3} mb="xs">
          Checks
        </Title>
        <dl className={css.checks}>
          {checkRows(checks).map(({ name, title, result, found, facts }) => (
            <div key={name} style={{ display: 'contents' }}>
              <dt>{title}</dt>
              <dd>
                <Sign result={result} /> {found}
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
            label="MX records as published"
            columns={[
              { header: 'Host', cell: (record) => <span className="anywhere">{visible(record.host)}</span> },
              { header: 'Priority', cell: (record) => record.priority, numeric: true },
            ]}
            rows={checks.mx.records}
            rowKey={(record) => `${record.priority} ${record.host}`}
          />
        </section>
      )}
      {evidence && <Evidence evidence={evidence} />}
    </Stack>
  );
}

function Summary({ reply }: { reply: Verification }) {
  const { means, advice } = wordsOf(reply);
  const flags = flagsOf(reply);
  return (
    <Alert
      color={reply.status === 'bad' ? 'red' : reply.deliverability === 'deliverable' ? 'green' : 'accent'}
      variant="outline"
      title={
        <Text span fz="lg" fw={600} inherit>
          {headline(reply)}
        </Text>
      }
    >
      <Stack gap="xs">
        <Text size="sm" className="anywhere" fw={600}>
          {visible(reply.email)}
        </Text>
        <Text size="sm">
          {means} {advice}
          {reply.retry_after !== null && ` Asking again makes sense ${retryWords(reply.retry_after)}.`}
        </Text>
        <Text size="sm" c="dimmed">
          Deliverability: {reply.deliverability}. Reason: {reply.reason === null ? 'none' : spoken(reply.reason)}.
          Answered at the {reply.validation_type} level in {counted(reply.duration_ms, 'millisecond')}, for{' '}
          {counted(reply.credits_used, 'credit')}.
        </Text>
        {flags.length > 0 && (
          <Group gap="xs" aria-label="Flags" role="list">
            {flags.map((flag) => (
              <Badge key={flag} role="listitem" variant="default" tt="none" fw={500}>
                {flag}
              </Badge>
            ))}
          </Group>
        )}
      </Stack>
    </Alert>
  );
}

/** What is so beside the verdict; none of it makes an address bad. */
function flagsOf(reply: Verification): string[] {
  const flags: readonly (readonly [boolean | null, string])[] = [
    [reply.is_role, 'a function, not a person'],
    [reply.is_free, 'free mail provider'],
    [reply.is_relay, 'privacy relay'],
    [reply.tag !== null, `tag: ${visible(reply.tag ?? '')}`],
  ];
  return flags.flatMap(([is, words]) => (is ? [words] : []));
}

function Sign({ result }: { result: Result }) {
  const [sign, color] = SIGNS[result];
  return (
    <Badge variant="outline" color={color} tt="none" autoContrast>
      <span aria-hidden>{sign}</span> {result}
    </Badge>
  );
}

/** The mistake in its place; where something is missing, the place is the end. */
function Place({ email, index }: { email: string; index: number }) {
  const character = String.fromCodePoint(...[email.codePointAt(index)].flatMap((code) => code ?? []));
  return (
    <Text size="sm" className="anywhere">
      Here: {visible(email.slice(0, index))}
      <mark className={css.mark}>{character === '' ? ' (end)' : visible(character)}</mark>
      {visible(email.slice(index + character.length))}
    </Text>
  );
}
