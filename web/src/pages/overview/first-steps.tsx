import { Anchor, Button, List, Paper, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Overview } from '../../api/schema.ts';
import { useMay } from '../../api/session.ts';

/** Nothing this month, and no key was ever used: an account at its beginning. */
export const isNew = ({ totals, keys }: Overview): boolean => totals.requests === 0 && keys.active === keys.never_used;

/** What to do in an account in which nothing was done yet. */
export function FirstSteps({ overview }: { overview: Overview }) {
  const mayAdmin = useMay('admin');
  const hasKey = overview.keys.active > 0;
  return (
    <Paper withBorder p="md" component="section" aria-label="First steps">
      <Title order={2} mb="xs">
        First steps
      </Title>
      <List type="ordered" spacing="xs" size="sm">
        <List.Item>
          {hasKey ? (
            <>
              There is an API key.{' '}
              <Anchor component={Link} to="/settings/keys" underline="always">
                Show the keys
              </Anchor>
            </>
          ) : mayAdmin ? (
            'Create an API key: programs send it with every request.'
          ) : (
            'Ask an admin of this account for an API key: programs send it with every request.'
          )}
        </List.Item>
        <List.Item>
          <Anchor component={Link} to="/verify" underline="always">
            Verify an address here
          </Anchor>{' '}
          to see what an answer says.
        </List.Item>
        <List.Item>
          Send the same from your program:{' '}
          <Anchor href="/docs" underline="always">
            API reference
          </Anchor>
          .
        </List.Item>
      </List>
      <Text component="div" mt="md">
        {!hasKey && mayAdmin ? (
          <Button component={Link} to="/settings/keys" variant="filled">
            Create an API key
          </Button>
        ) : (
          <Button component={Link} to="/verify" variant="filled">
            Verify an address
          </Button>
        )}
      </Text>
    </Paper>
  );
}
