import { Anchor, Button, List, Paper, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Overview } from '../../api/schema.ts';
import { useHasRole } from '../../api/session.ts';

/** No verification this month, and no key was ever used. */
export const isNew = ({ totals, keys }: Overview): boolean => totals.requests === 0 && keys.active === keys.never_used;

/** Guides the first use of an account. */
export function FirstSteps({ overview }: { overview: Overview }) {
  const isAdmin = useHasRole('admin');
  const hasKey = overview.keys.active > 0;
  return (
    <Paper withBorder p="md" component="section" aria-label="Get started">
      <Title order={2} mb="xs">
        Get started
      </Title>
      <List type="ordered" spacing="xs" size="sm">
        <List.Item>
          {hasKey ? (
            <>
              You have an API key.{' '}
              <Anchor component={Link} to="/settings/keys" underline="always">
                View API keys
              </Anchor>
            </>
          ) : isAdmin ? (
            'Create an API key. API clients send it with every request.'
          ) : (
            'Ask an account admin for an API key. API clients send it with every request.'
          )}
        </List.Item>
        <List.Item>
          <Anchor component={Link} to="/verify" underline="always">
            Verify an address
          </Anchor>{' '}
          here to see what a verdict looks like.
        </List.Item>
        <List.Item>
          Send the same request from your application. See the{' '}
          <Anchor component={Link} to="/docs" underline="always">
            API reference
          </Anchor>
          .
        </List.Item>
      </List>
      <Text component="div" mt="md">
        {!hasKey && isAdmin ? (
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
