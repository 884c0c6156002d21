import * as C from '../../contract/policies.ts';
import { toIso } from '../../kernel/clock.ts';
import { rulesIn } from '../../service/policies.ts';
import { type Route, route } from '../route.ts';
import { policyDeleted, policyReply } from '../v1/policies.ts';

const DASHBOARD_POLICIES_PATH = '/dashboard/accounts/:account/policies';

export const DASHBOARD_POLICY_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: DASHBOARD_POLICIES_PATH,
    access: 'viewer',
    cost: null,
    output: { content: C.PoliciesReply },
    doc: { operationId: 'listPoliciesHere', summary: 'Policies, the built-in ones first' },
    serve:
      ({ policies }) =>
      async ({ account }) => ({ body: { policies: (await policies.all(account)).map(policyReply) } }),
  }),
  route({
    method: 'PUT',
    path: `${DASHBOARD_POLICIES_PATH}/:name`,
    access: 'member',
    input: { params: C.PolicyParams, body: C.PolicyRequest },
    output: { content: C.PolicyReply },
    doc: { operationId: 'putPolicyHere', summary: 'Create or replace a policy', errors: [422] },
    serve:
      ({ policies }) =>
      async ({ account, actor }, { params: { name }, body }) => {
        const { policy } = await policies.save(account, name, body, actor);
        return { body: policyReply(policy) };
      },
  }),
  route({
    method: 'POST',
    path: `${DASHBOARD_POLICIES_PATH}/try`,
    access: 'member',
    cost: 'query',
    input: { body: C.PolicyRequest },
    output: { content: C.PolicyTrialReply },
    doc: {
      operationId: 'tryPolicyHere',
      summary: 'What rules that are not saved would have said of the newest verifications',
      errors: [422],
    },
    serve:
      ({ policies }) =>
      async ({ account }, { body }) => {
        const { tried, decided, items } = await policies.tried(account, rulesIn(body));
        const shown = items.map(({ decision: { action, because }, id, email, createdAt }) => ({
          id,
          email,
          created_at: toIso(createdAt),
          action,
          because: [...because],
        }));
        return { body: { tried, decided, items: shown } };
      },
  }),
  route({
    method: 'DELETE',
    path: `${DASHBOARD_POLICIES_PATH}/:name`,
    access: 'member',
    input: { params: C.PolicyParams },
    output: { content: C.PolicyDeleted },
    doc: { operationId: 'deletePolicyHere', summary: 'Delete a policy', errors: [422] },
    serve:
      ({ policies }) =>
      async ({ account, actor }, { params: { name } }) => {
        await policies.remove(account, name, actor);
        return { body: policyDeleted(name) };
      },
  }),
];
