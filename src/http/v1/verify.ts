import { IdempotencyHeader } from '../../contract/schema.ts';
import { VerifyQuery, VerifyReply, VerifyRequest } from '../../contract/verify.ts';
import { requireAdmission } from '../access/api-key.ts';
import { disconnectSignal, isDisconnected } from '../exchange.ts';
import { JSON_TYPE, REPLAYED, replayed } from '../reply.ts';
import { type Route, route } from '../route.ts';

const CREDITS = 'x-credits-remaining';

export const VERIFY_ROUTES: readonly Route[] = [
  route({
    method: 'POST',
    path: '/v1/verify',
    access: 'charged-api-key:verify',
    cost: null,
    input: { query: VerifyQuery, body: VerifyRequest, headers: IdempotencyHeader },
    output: {
      content: VerifyReply,
      description: 'The verdict.',
      headers: { 'X-Credits-Remaining': 'What can still be spent.', ...REPLAYED },
    },
    doc: {
      operationId: 'verify',
      tag: 'Verification',
      summary: 'Verify one address',
      description: 'A malformed or dead address is a verdict (200), not an error.',
      errors: [402, 409, 422],
    },
    serve:
      (context) =>
      async (request, { query, body, warnings }) => {
        const { ip, reply, keyHash, test, idempotency } = request;
        const outcome = await context.verify.verify({
          keyHash,
          test,
          ip,
          idempotency,
          email: body.email,
          level: body.validation_type,
          clientIp: body.client_ip ?? ip,
          timeoutMs: body.timeout_ms,
          withEvidence: query.evidence === '1',
          warnings,
          gone: () => isDisconnected(reply),
          // A client with an Idempotency-Key will send the request again, and is to find the whole outcome then.
          signal: () => (idempotency === null ? disconnectSignal(reply) : new AbortController().signal),
        });
        const admission = requireAdmission(context, request, 'admission' in outcome ? outcome.admission : outcome);
        if (outcome.outcome === 'failed') throw outcome.error;
        const headers = { [CREDITS]: String(outcome.outcome === 'answered' ? outcome.balance : admission.balance) };
        if (outcome.outcome === 'answered') return { body: outcome.record.body, type: JSON_TYPE, headers };
        if (admission.outcome !== 'replay') throw new TypeError('A refused admission has no reply.');
        const stored = replayed(admission.reply);
        return { ...stored, headers: { ...stored.headers, ...headers } };
      },
  }),
];
