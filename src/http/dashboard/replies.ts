import * as C from '../../contract/dashboard/replies.ts';
import type { Read } from '../../contract/schema.ts';
import { toIso } from '../../kernel/clock.ts';
import { UNCERTAIN_REPLIES_SHOWN } from '../../kernel/facts/limits.ts';
import { contradictionObject } from '../../service/outcomes.ts';
import type { ReplyService, UncertainReplyRow } from '../../service/replies.ts';
import { type ReplyBody, type Route, route } from '../route.ts';

const REPLIES_PATH = '/dashboard/operator/replies';

const replyOf = ({ enhanced, firstSeen, lastSeen, ...row }: UncertainReplyRow): C.UncertainReply => ({
  ...row,
  enhanced_code: enhanced,
  first_seen: toIso(firstSeen),
  last_seen: toIso(lastSeen),
});

/** How a reply is read. Of what the model makes of it, only the probability: the rest is for the command. */
export function explanationOf(
  explain: ReplyService['explain'],
  { reply, mx, address }: Read<typeof C.ExplainReplyRequest>,
): ReplyBody<typeof C.ExplainReplyReply> {
  const { model, ...rest } = explain({ reply, mx: mx || null, address: address || null });
  return { ...rest, probability: model?.probability ?? null };
}

/** How replies of mail servers are read, for operators. */
export const REPLY_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: REPLIES_PATH,
    access: 'operator',
    cost: 'query',
    output: { content: C.UncertainRepliesReply },
    doc: {
      operationId: 'operatorReplies',
      summary: 'Replies of mail servers that were read with low confidence, the most frequent first',
    },
    serve:
      ({ replies }) =>
      async () => {
        const { items, total } = await replies.uncertain(UNCERTAIN_REPLIES_SHOWN);
        return { body: { replies: items.map(replyOf), total_count: total } };
      },
  }),
  route({
    method: 'POST',
    path: `${REPLIES_PATH}/explain`,
    access: 'operator',
    input: { body: C.ExplainReplyRequest },
    output: { content: C.ExplainReplyReply },
    doc: { operationId: 'operatorExplainReply', summary: 'Explain how a reply to RCPT is read' },
    serve:
      ({ replies }) =>
      async (_context, { body }) => ({ body: explanationOf(replies.explain, body) }),
  }),
  route({
    method: 'GET',
    path: '/dashboard/operator/contradictions',
    access: 'operator',
    cost: 'query',
    output: { content: C.ContradictionsReply },
    doc: {
      operationId: 'operatorContradictions',
      summary: 'Verdicts that the outcome of mail contradicts, of all live accounts, the newest first',
    },
    serve:
      ({ outcomes }) =>
      async () => {
        const found = await outcomes.contradictions();
        return {
          body: {
            contradictions: found.map((one) => {
              const { verification_id: _ofAnAccount, ...facts } = contradictionObject(one);
              return { ...facts, template: one.template };
            }),
          },
        };
      },
  }),
];
