import { Code, Modal, Stack, Text } from '@mantine/core';
import type { Delivery } from '../../api/schema.ts';
import { formatNumber } from '../../parts/format.ts';
import { Timestamp } from '../../parts/timestamp.tsx';
import { escapeInvisible } from '../../parts/verdict/escape-invisible.ts';

type Attempt = Delivery['attempts'][number];
const ERRORS: Readonly<Record<NonNullable<Attempt['error']>, string>> = {
  timeout: 'no reply in time',
  unknown_host: 'the host name has no public address',
  dns_failure: 'the DNS servers of the host name did not answer',
  address_not_allowed: 'the address is not publicly routable',
  not_https: 'the URL is not https',
  connection_failed: 'the connection failed',
  certificate_expired: 'the TLS certificate has expired or is not valid yet',
  certificate_name_mismatch: 'the TLS certificate is for another host name',
  certificate_untrusted: 'the TLS certificate is self-signed, or its chain is incomplete or not trusted',
  tls_failed: 'the TLS handshake failed',
  invalid_reply: 'the reply was not valid HTTP',
};

/** In words, to be continued. */
export const outcomeOf = ({ status, error }: Attempt): string =>
  status === null ? (error === null ? 'no reply' : ERRORS[error]) : `status ${status}`;

/** The attempts of a delivery, the last one first. */
export const Attempts = ({ of, opened, onClose }: { of: Delivery | null; opened: boolean; onClose: () => void }) => (
  <Modal opened={opened} onClose={onClose} title={of ? `Delivery of ${of.event}` : ''} size="lg">
    {of && (
      <Stack>
        <Text size="sm" className="anywhere">
          webhook-id: <Code>{of.event_id}</Code>
        </Text>
        {of.attempts.length === 0 && <Text size="sm">No attempt yet.</Text>}
        {of.attempts.map((attempt, i) => <AttemptEntry key={attempt.at} of={attempt} number={i + 1} />).reverse()}
      </Stack>
    )}
  </Modal>
);

const AttemptEntry = ({ of, number }: { of: Attempt; number: number }) => (
  <section aria-label={`Attempt ${number}`}>
    <Text component="h3" fw={600} size="sm">
      Attempt {formatNumber(number)}: {outcomeOf(of)}
    </Text>
    <Text size="sm">
      <Timestamp at={of.at} />, {formatNumber(of.duration_ms)} ms
    </Text>
    {of.response !== null && of.response !== '' && (
      <Code block className="anywhere" mt={4} tabIndex={0} aria-label={`Start of the reply to attempt ${number}`}>
        {escapeInvisible(of.response)}
      </Code>
    )}
  </section>
);
