import { Alert, Button, Group, Text, Textarea } from '@mantine/core';
import { ipMatcher } from '../../../../src/kernel/ip.ts';
import { useSession } from '../../api/session.ts';
import { parseEntries } from './entries.ts';

/**
 * The IP allowlist of a key. Only warns if it excludes the user's own address, since the list of a server does so on
 * purpose.
 */
export function AddressesField(props: { value: string; onChange: (value: string) => void; error: string | undefined }) {
  const { value, onChange, error } = props;
  const { ip } = useSession();
  const entries = parseEntries(value);
  const isIncluded = ipMatcher(entries)(ip);
  const add = () => onChange([...entries, ip].join('\n'));
  return (
    <div>
      <Textarea
        label="Allowed IP addresses"
        description="IP addresses and CIDR blocks, separated by commas or new lines. Leave empty to allow any address."
        placeholder={'192.0.2.10\n2001:db8::/48'}
        autosize
        minRows={3}
        maxRows={10}
        autoComplete="off"
        spellCheck={false}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
        error={error}
      />
      <Group gap="xs" mt="xs">
        <Button size="xs" onClick={add} disabled={isIncluded}>
          Add my IP
        </Button>
        <Text size="sm" c="dimmed" className="anywhere">
          {ip}
        </Text>
      </Group>
      <div role="status">
        {entries.length > 0 && !isIncluded && (
          <Alert color="yellow" variant="outline" mt="xs" title="Your own IP address is not on this list">
            Requests with this key from {ip} would be rejected (403).
          </Alert>
        )}
      </div>
    </div>
  );
}
