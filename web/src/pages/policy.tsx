import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Badge, Button, Group } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Policy } from '../api/schema.ts';
import { useAccount, useHasRole } from '../api/session.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { ErrorAlert } from '../parts/error-alert.tsx';
import { notify } from '../parts/notify.tsx';
import { Page } from '../parts/page.tsx';
import { Panel } from '../parts/panel.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { useAsyncAction } from '../parts/use-async-action.ts';
import { CreatePolicy } from './policies/create-dialog.tsx';
import { deletePolicy, policiesKey, policiesQuery, savePolicy } from './policies/queries.ts';
import { RulesFields } from './policies/rules-fields.tsx';
import { type Rules, rulesOf } from './policies/sentences.ts';
import { TryOut } from './policies/try-out.tsx';
import { Sentences } from './policies.tsx';

export function PolicyPage() {
  const { id } = useAccount();
  const mayChange = useHasRole('member');
  const { name } = route.useParams();
  const query = useQuery(policiesQuery(id));
  const policies = query.data?.policies ?? [];
  const policy = policies.find((one) => one.name === name);
  const [copied, setCopied] = useState<string | null>(null);
  return (
    <Page
      title={name}
      tag={policy?.built_in && <Badge variant="outline">{t`built in`}</Badge>}
      about={
        <Trans>
          What a request with <code>{`"policy": "${name}"`}</code> gets.
        </Trans>
      }
      action={policy && mayChange && <Button onClick={() => setCopied(name)}>{t`Copy`}</Button>}
    >
      <QueryResult query={query}>
        {() =>
          policy === undefined ? (
            <EmptyState title={t`No such policy`}>{t`It may have been deleted.`}</EmptyState>
          ) : (
            // Another policy, or what somebody else has saved, starts over.
            <Editor mayChange={mayChange} key={`${name} ${policy.changed_at}`} of={policy} />
          )
        }
      </QueryResult>
      <CreatePolicy policies={policies} from={copied} onClose={() => setCopied(null)} />
    </Page>
  );
}

const route = getRouteApi('/inside/policies/$name');

function Editor({ of, mayChange }: { of: Policy; mayChange: boolean }) {
  const { id } = useAccount();
  const client = useQueryClient();
  const isOwn = mayChange && !of.built_in;
  const saved = rulesOf(of);
  const [rules, setRules] = useState<Rules>(saved);
  const isChanged = JSON.stringify(rules) !== JSON.stringify(saved);
  const save = useAsyncAction(async () => {
    await savePolicy(id, of.name, rules);
    void notify(t`Policy saved.`);
    await client.invalidateQueries({ queryKey: policiesKey(id) });
  });
  return (
    <>
      <Panel title={isChanged ? t`What it will say, once it is saved` : t`What it says`}>
        <Sentences of={rules} />
      </Panel>
      {isOwn && (
        <Panel title={t`Rules`}>
          <RulesFields rules={rules} onChange={setRules} />
        </Panel>
      )}
      {mayChange && <TryOut rules={rules} />}
      {isOwn && (
        <>
          {save.error && <ErrorAlert error={save.error} />}
          <Group>
            <Button variant="filled" onClick={save.run} loading={save.busy} disabled={!isChanged}>{t`Save`}</Button>
            <Button onClick={() => setRules(saved)} disabled={!isChanged}>{t`Undo changes`}</Button>
            <Remove name={of.name} />
          </Group>
        </>
      )}
    </>
  );
}

function Remove({ name }: { name: string }) {
  const { id } = useAccount();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [opened, setOpened] = useState(false);
  return (
    <>
      <Button color="red" onClick={() => setOpened(true)}>{t`Delete`}</Button>
      <ConfirmDialog
        title={t`Delete ${name}?`}
        action={t`Delete`}
        opened={opened}
        onClose={() => setOpened(false)}
        onConfirm={async () => {
          await deletePolicy(id, name);
          await navigate({ to: '/policies' });
          await client.invalidateQueries({ queryKey: policiesKey(id) });
        }}
      >{t`Requests that name it fail with the error policy_not_found from then on. Lists keep it as it was when they were uploaded.`}</ConfirmDialog>
    </>
  );
}
