import * as C from '../../contract/outcomes.ts';
import { IdempotencyHeader, type Read } from '../../contract/schema.ts';
import type { BodyCostName } from '../../kernel/costs.ts';
import { type ApiError, isInProgress } from '../../kernel/errors.ts';
import type { Share } from '../../kernel/facts/calibration.ts';
import { given } from '../../kernel/facts/given.ts';
import { MAIL_REPORT_BYTES, OUTCOMES_BODY_BYTES } from '../../kernel/facts/limits.ts';
import type { ReportedOutcome } from '../../kernel/facts/sent-mail.ts';
import { sha256Hex } from '../../kernel/ids.ts';
import type { Costs } from '../../service/costs.ts';
import {
  contradictionObject,
  DISREGARDED,
  type OutcomeResult,
  type OutcomeService,
  recordMessage,
} from '../../service/outcomes.ts';
import type { HttpRequest } from '../exchange.ts';
import type { ArrivingBody } from '../input/arrival.ts';
import { jsonReader, objectBody } from '../input/reader.ts';
import { jsonReply, REPLAYED, replayed } from '../reply.ts';
import { type Route, route } from '../route.ts';

const readOutcomeRow = jsonReader(C.OutcomeRow);

const toReported = (row: Read<typeof C.OutcomeRow>): ReportedOutcome => ({
  ...given({ email: row.email, verificationId: row.verification_id }),
  outcome: row.outcome,
  at: row.at,
  diagnostic: row.diagnostic ?? null,
  source: row.source ?? null,
});

function reportedIn(sent: unknown): ReportedOutcome | ApiError {
  const read = readOutcomeRow(sent);
  return read.ok ? toReported(read.value) : read.error;
}

const resultReply = (one: OutcomeResult) =>
  one.result === 'error'
    ? { result: one.result, error: one.error.message, field: one.error.details.field ?? null }
    : { result: one.result, class: one.class };

/** As it is sent and stored. */
export function outcomesReply(results: readonly OutcomeResult[], warnings: readonly string[]) {
  const count = (of: OutcomeResult['result']) => results.filter(({ result }) => result === of).length;
  return jsonReply<typeof C.OutcomesReply>(200, {
    results: results.map(resultReply),
    recorded: count('recorded'),
    duplicates: count('duplicate'),
    errors: count('error'),
    warnings,
  });
}

const shareToTenThousandth = (share: number): number => Math.round(share * 10_000) / 10_000;
const roundedOrNull = (share: number | undefined): number | null =>
  share === undefined ? null : shareToTenThousandth(share);
const intervalOf = (share: Share | null) => ({ low: roundedOrNull(share?.low), high: roundedOrNull(share?.high) });

/** The dashboard uses it too. */
export const calibrationReply = ({
  verdicts,
  reliability,
  contradictions,
}: Awaited<ReturnType<OutcomeService['calibration']>>) => ({
  verdicts: verdicts.map(({ group: { level, ...group }, sum, bounced }) => ({
    ...group,
    validation_type: level,
    ...sum,
    bounce_rate: roundedOrNull(bounced?.share),
    ...intervalOf(bounced),
  })),
  reliability: reliability.map(({ tenth, sent, predicted, delivered }) => ({
    from: tenth / 10,
    to: (tenth + 1) / 10,
    sent,
    predicted: shareToTenThousandth(predicted),
    delivered: roundedOrNull(delivered?.share),
    ...intervalOf(delivered),
  })),
  contradictions: contradictions.map((one) => ({ ...contradictionObject(one), template: one.template })),
});

const readOutcomesRequest = jsonReader(C.OutcomesRequest);
const OUTCOMES_PATH = '/v1/outcomes';

/** The rows of a request, read at its end. */
function rowsIn(request: HttpRequest, bytes: Buffer) {
  request.body = bytes;
  const json = objectBody(request, { maxBodyBytes: OUTCOMES_BODY_BYTES });
  const read = json.ok ? readOutcomesRequest(json.value) : json;
  if (!read.ok) throw read.error;
  return { rows: read.value.outcomes.map(reportedIn), warnings: read.warnings ?? [] };
}

/** What became of mail. */
export const OUTCOME_ROUTES: readonly Route[] = [
  route({
    method: 'POST',
    path: OUTCOMES_PATH,
    access: 'api-key:outcomes',
    input: {
      body: { cost: 'report', stream: ['application/json'], schema: C.OutcomesRequest },
      headers: IdempotencyHeader,
      maxBodyBytes: OUTCOMES_BODY_BYTES,
    },
    output: { content: C.OutcomesReply, description: 'A result for each row.', headers: REPLAYED },
    doc: {
      operationId: 'reportOutcomes',
      tag: 'Outcomes',
      summary: 'Report what became of mail',
      description:
        'Costs nothing. A row with an error does not affect the others. What was reported before counts once, in whatever order it arrives.',
    },
    serve:
      ({ outcomes, costs, admission }) =>
      async ({ caller: { accountId }, request }, { body, headers, warnings }) => {
        const bytes = await wholeBody(body, costs, 'report', accountId);
        const { rows, warnings: more } = rowsIn(request, bytes);
        const key = headers['idempotency-key'];
        const ref = key === undefined ? null : { route: `POST ${OUTCOMES_PATH}`, key, fingerprint: sha256Hex(bytes) };
        const before = ref && (await admission.find(accountId, ref));
        if (before !== null) return replayed(before);
        const replyTo = (results: readonly OutcomeResult[]) => outcomesReply(results, [...warnings, ...more]);
        try {
          return replyTo(await outcomes.record(accountId, rows, { origin: 'api' }, ref && { ref, replyTo }));
        } catch (error) {
          // Another request with this key was faster.
          const stored = ref && isInProgress(error) ? await admission.find(accountId, ref) : null;
          if (stored === null) throw error;
          return replayed(stored);
        }
      },
  }),
  route({
    method: 'POST',
    path: `${OUTCOMES_PATH}/message`,
    access: 'api-key:outcomes',
    cost: null,
    input: {
      body: { cost: 'report', stream: ['message/rfc822'], anyType: true },
      query: C.OutcomeMessageQuery,
      maxBodyBytes: MAIL_REPORT_BYTES,
    },
    output: { content: C.OutcomeMessageReply, description: 'What the message counts as.' },
    doc: {
      operationId: 'reportOutcomeMessage',
      tag: 'Outcomes',
      summary: 'Report a bounce or a complaint as it arrived',
      description:
        'Takes a delivery status notification (RFC 3464), a feedback report (RFC 5965) or a bounce that is only text, as a mail server sent it. Costs nothing, and keeps nothing of the message. Automatic replies, notices of delays and reports that a mail is no spam count as nothing.',
    },
    serve:
      ({ outcomes, costs, clock }) =>
      async ({ caller: { accountId } }, { body, query: { source = null, via = 'message' }, warnings }) => {
        const bytes = await wholeBody(body, costs, 'report', accountId);
        const { recipients, results, disregarded } = await recordMessage(outcomes, accountId, bytes, {
          source,
          from: { origin: via },
          now: clock.now(),
        });
        return {
          body: {
            outcomes: recipients.map(({ email, outcome }, at) => {
              const result = results[at];
              if (result === undefined) throw new TypeError('Each recipient has a result.');
              return { email, outcome, ...resultReply(result) };
            }),
            disregarded: disregarded.map(({ email, why }) => ({ email, why, message: `${DISREGARDED[why]}.` })),
            warnings,
          },
        };
      },
  }),
  route({
    method: 'GET',
    path: '/v1/calibration',
    access: 'api-key:outcomes',
    cost: 'query',
    output: { content: C.CalibrationReply, description: 'What the outcomes of the account show.' },
    doc: {
      operationId: 'calibration',
      tag: 'Outcomes',
      summary: 'How often verdicts were right',
      description: 'From sums that are kept, however many outcomes there are.',
    },
    serve:
      ({ outcomes }) =>
      async ({ caller }) => ({ body: calibrationReply(await outcomes.calibration(caller.accountId)) }),
  }),
];

/** All of a body, which holds a place while it arrives. Throws as `Costs.hold`. */
async function wholeBody(body: ArrivingBody, costs: Costs, cost: BodyCostName, account: string) {
  const place = await costs.hold(cost, account);
  try {
    const pieces: Buffer[] = await body.held(place).toArray();
    return Buffer.concat(pieces);
  } finally {
    place.release();
  }
}
