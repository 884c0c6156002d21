import * as C from '../../contract/dashboard/outcome-sources.ts';
import { Done } from '../../contract/dashboard/session.ts';
import { CalibrationReply } from '../../contract/outcomes.ts';
import { toIso, toIsoOrNull } from '../../kernel/clock.ts';
import type { OutcomeSource, OutcomeSourceWithSecret } from '../../service/outcome-sources.ts';
import { done } from '../access/session.ts';
import { ACCOUNT_PATH, type Route, route } from '../route.ts';
import { calibrationReply } from '../v1/outcomes.ts';

const OUTCOME_SOURCES_PATH = `${ACCOUNT_PATH}/outcome-sources` as const;

/** `base` is the public URL of the service. */
const sourceReply = (source: OutcomeSource, base: string): C.OutcomeSourceReply => ({
  id: source.id,
  provider: source.provider,
  name: source.name,
  url: `${base}/v1/outcomes/${source.provider}/${source.id}`,
  has_secret: source.hasSecret,
  previous_secret_until: toIsoOrNull(source.previousSecretUntil),
  received: source.received,
  created_at: toIso(source.createdAt),
  last_received_at: toIsoOrNull(source.lastReceivedAt),
});
const sourceWithSecret = ({ source, secret }: OutcomeSourceWithSecret, base: string) => ({
  source: sourceReply(source, base),
  secret,
});

/** Connections with providers, and what their outcomes show. */
export const DASHBOARD_OUTCOME_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: `${ACCOUNT_PATH}/calibration`,
    access: 'viewer',
    cost: 'query',
    output: { content: CalibrationReply },
    doc: { operationId: 'calibrationHere', summary: 'How often verdicts were right' },
    serve:
      ({ outcomes }) =>
      async ({ account }) => ({ body: calibrationReply(await outcomes.calibration(account)) }),
  }),
  route({
    method: 'GET',
    path: OUTCOME_SOURCES_PATH,
    access: 'viewer',
    cost: null,
    output: { content: C.OutcomeSourcesReply },
    doc: {
      operationId: 'listOutcomeSources',
      summary: 'Connections with providers, oldest first, and how many outcomes came on which way',
    },
    serve:
      ({ outcomes, outcomeSources, url }) =>
      async ({ account }) => {
        const [sources, origins] = await Promise.all([outcomeSources.list(account), outcomes.origins(account)]);
        return {
          body: {
            sources: sources.map((source) => sourceReply(source, url())),
            origins: Array.from(origins, ([origin, { received, lastReceivedAt }]) => ({
              origin,
              received,
              last_received_at: toIso(lastReceivedAt),
            })),
          },
        };
      },
  }),
  route({
    method: 'POST',
    path: OUTCOME_SOURCES_PATH,
    access: 'admin',
    input: { body: C.OutcomeSourceCreateRequest },
    output: { status: 201, content: C.OutcomeSourceWithSecretReply },
    doc: {
      operationId: 'createOutcomeSource',
      summary: 'Connect a provider; a secret of ours is shown only once',
      errors: [422],
    },
    serve:
      ({ outcomeSources, url }) =>
      async ({ account, actor }, { body }) => ({
        body: sourceWithSecret(await outcomeSources.create(account, body, actor), url()),
      }),
  }),
  route({
    method: 'POST',
    path: `${OUTCOME_SOURCES_PATH}/:id/roll`,
    access: 'admin',
    input: { body: C.OutcomeSourceRollRequest },
    output: { content: C.OutcomeSourceWithSecretReply },
    doc: {
      operationId: 'rollOutcomeSource',
      summary: 'Replace the secret, or enter that of the provider; the one before is accepted for a while',
      errors: [422],
    },
    serve:
      ({ outcomeSources, url }) =>
      async ({ account, actor }, { params: { id }, body: { secret, grace_seconds: seconds } }) => ({
        body: sourceWithSecret(
          await outcomeSources.roll(account, id, { secret, graceMs: seconds * 1000 }, actor),
          url(),
        ),
      }),
  }),
  route({
    method: 'DELETE',
    path: `${OUTCOME_SOURCES_PATH}/:id`,
    access: 'admin',
    output: { content: Done },
    doc: { operationId: 'deleteOutcomeSource', summary: 'Delete a connection: its requests are refused from now on' },
    serve:
      ({ outcomeSources }) =>
      async ({ account, actor }, { params: { id } }) => {
        await outcomeSources.remove(account, id, actor);
        return done('Connection deleted.');
      },
  }),
];
