import { List, Stack, Text, Title } from '@mantine/core';
import type { Verification } from '../../api/schema.ts';
import { decidingLine } from './deciding-line.ts';
import { escapeInvisible } from './escape-invisible.ts';
import css from './verdict.module.css';

type EvidenceData = NonNullable<Verification['evidence']>;

const SPEAKERS = { client: 'Mailvet', server: 'Server', note: 'Note' } as const;

/** Mail servers and the SMTP transcript. All of it is untrusted text. */
export function Evidence({ evidence, check }: { evidence: EvidenceData; check: Verification['checks']['smtp'] }) {
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
