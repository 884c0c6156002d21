import { List, Stack, Text, Title } from '@mantine/core';
import type { Verification } from '../../api/schema.ts';
import css from './verdict.module.css';
import { visible } from './visible.ts';

type Seen = NonNullable<Verification['evidence']>;

const SPEAKERS = { client: 'Mailvet', server: 'Server', note: 'Note' } as const;

/** What was seen and said. Everything in it comes from strangers and is shown as text. */
export function Evidence({ evidence }: { evidence: Seen }) {
  const { mail_hosts, unusable_hosts, smtp } = evidence;
  return (
    <Stack component="section" gap="lg" aria-label="Evidence">
      {mail_hosts.length + unusable_hosts.length > 0 && (
        <div>
          <Title order={3} mb="xs">
            Mail hosts
          </Title>
          <List size="sm" listStyleType="none">
            {mail_hosts.map(({ host, priority, addresses }) => (
              <List.Item key={`${priority} ${host}`} className="anywhere">
                {visible(host)} (priority {priority}): {addresses.join(', ')}
              </List.Item>
            ))}
            {unusable_hosts.map(({ host, why }) => (
              <List.Item key={host} className="anywhere">
                {visible(host)}: cannot be used, {visible(why)}
              </List.Item>
            ))}
          </List>
        </div>
      )}
      {smtp && <Dialogue smtp={smtp} />}
    </Stack>
  );
}

function Dialogue({ smtp }: { smtp: NonNullable<Seen['smtp']> }) {
  const facts = [
    smtp.host && `with ${visible(smtp.host)}`,
    smtp.address && `at ${smtp.address}`,
    smtp.tls ? 'encrypted' : 'not encrypted',
    smtp.rule && `decided by ${smtp.rule}`,
  ].filter(Boolean);
  return (
    <div>
      <Title order={3}>What was said</Title>
      <Text size="sm" c="dimmed" mb="xs" className="anywhere">
        {facts.join(', ')}. Times are seconds since the dialogue began; the part of the address before the @ is blanked.
      </Text>
      {smtp.transcript.length === 0 ? (
        <Text>Nothing: no connection was made.</Text>
      ) : (
        <ol className={css.dialogue} aria-label="The dialogue with the mail server">
          {smtp.transcript.map(({ at, from, text }, i) => (
            <li key={`${i} ${at}`} data-from={from}>
              <span className={css.time}>{(at / 1000).toFixed(3)} s</span>
              <span>{SPEAKERS[from]}</span>
              <code dir="ltr">{visible(text)}</code>
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}
