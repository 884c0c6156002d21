import * as C from '../../contract/policies.ts';
import { toIsoOrNull } from '../../kernel/clock.ts';
import { builtInPolicy } from '../../kernel/facts/policies.ts';
import type { ListedPolicy } from '../../service/policies.ts';
import { type Route, route } from '../route.ts';

const POLICIES_PATH = '/v1/policies';

export const policyReply = (policy: ListedPolicy): C.PolicyReply => ({
  name: policy.name,
  built_in: builtInPolicy(policy.name) !== null,
  signals: policy.signals,
  validation_type: policy.level,
  timeout_ms: policy.timeoutMs,
  on_outage: policy.onOutage,
  messages: policy.messages,
  created_at: toIsoOrNull(policy.createdAt),
  changed_at: toIsoOrNull(policy.changedAt),
});

export const policyDeleted = (name: string) => ({ status: 'success', message: `The policy ${name} was deleted.` });

/** What an account decides from verdicts. */
export const POLICY_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: POLICIES_PATH,
    access: 'api-key:policies',
    cost: null,
    output: { content: C.PolicyListReply, description: 'All policies.' },
    doc: { operationId: 'listPolicies', tag: 'Policies', summary: 'List policies' },
    serve:
      ({ policies }) =>
      async ({ caller }) => ({ body: { policies: (await policies.all(caller.accountId)).map(policyReply) } }),
  }),
  route({
    method: 'GET',
    path: `${POLICIES_PATH}/:name`,
    access: 'api-key:policies',
    cost: null,
    input: { params: C.PolicyParams },
    output: { content: C.PolicyDetailsReply, description: 'The policy.' },
    doc: { operationId: 'getPolicy', tag: 'Policies', summary: 'Show a policy' },
    serve:
      ({ policies }) =>
      async ({ caller }, { params: { name } }) => ({ body: policyReply(await policies.get(caller.accountId, name)) }),
  }),
  route({
    method: 'PUT',
    path: `${POLICIES_PATH}/:name`,
    access: 'api-key:policies',
    input: { params: C.PolicyParams, body: C.PolicyRequest },
    output: { content: C.PolicyDetailsReply, description: 'The policy as it is from now on; 201 where it is new.' },
    doc: {
      operationId: 'putPolicy',
      tag: 'Policies',
      summary: 'Create or replace a policy',
      description: 'The body is the whole policy. A reply of this API can be sent back, also under another name.',
      errors: ['invalid_policy', 'policy_built_in', 'too_many_policies'],
    },
    serve:
      ({ policies }) =>
      async ({ caller, ip }, { params: { name }, body }) => {
        const { created, policy } = await policies.save(caller.accountId, name, body, { caller, ip });
        return { status: created ? 201 : 200, body: policyReply(policy) };
      },
  }),
  route({
    method: 'DELETE',
    path: `${POLICIES_PATH}/:name`,
    access: 'api-key:policies',
    input: { params: C.PolicyParams },
    output: { content: C.PolicyDeletedReply, description: 'Deleted.' },
    doc: {
      operationId: 'deletePolicy',
      tag: 'Policies',
      summary: 'Delete a policy',
      errors: ['policy_built_in', 'policy_in_use'],
    },
    serve:
      ({ policies }) =>
      async ({ caller, ip }, { params: { name } }) => {
        await policies.remove(caller.accountId, name, { caller, ip });
        return { body: policyDeleted(name) };
      },
  }),
];
