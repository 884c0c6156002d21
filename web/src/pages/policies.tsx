import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Anchor, Badge, Button, Group, List, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { POLICIES_MAX } from '../../../src/kernel/facts/limits.ts';
import type { Policy } from '../api/schema.ts';
import { useAccount, useHasRole } from '../api/session.ts';
import { formatNumber } from '../parts/format.ts';
import { Page } from '../parts/page.tsx';
import { Panel } from '../parts/panel.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { CreatePolicy } from './policies/create-dialog.tsx';
import { policiesQuery } from './policies/queries.ts';
import { sentencesOf } from './policies/sentences.ts';

export function PoliciesPage() {
  const { id } = useAccount();
  const mayChange = useHasRole('member');
  const query = useQuery(policiesQuery(id));
  const policies = query.data?.policies ?? [];
  /** The policy whose rules a new one begins with, while the dialog is open. */
  const [copied, setCopied] = useState<string | null>(null);
  const own = policies.filter(({ built_in }) => !built_in).length;
  const isFull = own >= POLICIES_MAX;
  return (
    <Page
      title={t`Policies`}
      about={t`What is decided from a verdict: a request, a list or a form that names a policy gets its decision.`}
      action={
        policies.length > 0 &&
        mayChange && (
          <Button
            variant="filled"
            disabled={isFull}
            onClick={() => setCopied(policies[0]?.name ?? null)}
          >{t`Create policy`}</Button>
        )
      }
    >
      <QueryResult query={query}>
        {() => (
          <Stack>
            {policies.map((policy) => (
              <Summary
                key={policy.name}
                of={policy}
                mayChange={mayChange}
                onCopy={isFull || !mayChange ? null : () => setCopied(policy.name)}
              />
            ))}
            {isFull && (
              <Text size="sm" c="dimmed">
                <Trans>This account has all {formatNumber(POLICIES_MAX)} policies that it can have.</Trans>
              </Text>
            )}
          </Stack>
        )}
      </QueryResult>
      <CreatePolicy policies={policies} from={copied} onClose={() => setCopied(null)} />
    </Page>
  );
}

const openWord = ({ built_in }: Policy, mayChange: boolean): string =>
  mayChange ? (built_in ? t`Try` : t`Edit`) : t`View`;

const Summary = ({ of, mayChange, onCopy }: { of: Policy; mayChange: boolean; onCopy: (() => void) | null }) => (
  <Panel
    title={of.name}
    note={of.built_in && <Badge variant="outline">{t`built in`}</Badge>}
    actions={
      <Group gap="xs">
        {onCopy && <Button size="xs" aria-label={t`Copy ${of.name}`} onClick={onCopy}>{t`Copy`}</Button>}
        <Anchor
          size="sm"
          aria-label={`${openWord(of, mayChange)} ${of.name}`}
          renderRoot={(props) => <Link {...props} to="/policies/$name" params={{ name: of.name }} />}
        >
          {openWord(of, mayChange)}
        </Anchor>
      </Group>
    }
  >
    <Sentences of={of} />
  </Panel>
);

export const Sentences = ({ of }: { of: Parameters<typeof sentencesOf>[0] }) => (
  <List size="sm" spacing={4}>
    {sentencesOf(of).map((sentence) => (
      <List.Item key={sentence}>{sentence}</List.Item>
    ))}
  </List>
);
