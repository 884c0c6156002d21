import { Alert, Button, Group, Text, Textarea } from '@mantine/core';
import { useSession } from '../../api/session.ts';
import { entriesOf, isCovered } from './covers.ts';

/**
 * The allowlist of a key, as text. Says so when the person's own address is left out: a list that is meant for a server
 * leaves it out on purpose, so this forbids nothing.
 */
export function AddressesField(props: { value: string; onChange: (value: string) => void; error: string | undefined }) {
  const { value, onChange, error } = props;
  const { ip } = useSession();
  const entries = entriesOf(value);
  const isLeftOut = entries.length > 0 && !isCovered(ip, entries);
  const add = () => onChange([...entries, ip].join('\n'));
  return (
    <div>
      <Textarea
        label="Allowed addresses"
        description="IPs and CIDRs, one per line or with commas between. Left empty, the key works from everywhere."
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
        <Button size="xs" onClick={add} disabled={isCovered(ip, entries)}>
          Add my IP
        </Button>
        <Text size="sm" c="dimmed" className="anywhere">
          {ip}
        </Text>
      </Group>
      <div role="status">
        {isLeftOut && (
          <Alert color="yellow" variant="outline" mt="xs" title="Your own address is not in this list">
            From {ip} the key would be refused (403).
          </Alert>
        )}
      </div>
    </div>
  );
}
