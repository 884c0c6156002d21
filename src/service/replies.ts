import type { DomainData, WatchedDomainData } from '../engine/data/domain-data.ts';
import { createClassifier } from '../engine/smtp/classify.ts';
import { explainReply, parseReply } from '../engine/smtp/explain.ts';
import type { UncertainReplyCounter } from '../engine/smtp/uncertain.ts';
import { ApiError } from '../kernel/errors.ts';
import type { Store, UncertainReplyRow } from '../store/store.ts';

export type { UncertainReplyRow };

interface AskedReply {
  /** As a server sends it or a log has it. */
  readonly reply: string;
  /** The mail host that gave it; null: of no known operator. */
  readonly mx: string | null;
  /** The address that it was given for, which servers echo; null: unknown. */
  readonly address: string | null;
}

/** `lists` is called for each reply, to name the operator of its mail host. */
export function createReplyExplainer(lists: () => Pick<DomainData, 'provider'>) {
  // Made when it is first asked for: that takes some milliseconds.
  let classifier: ReturnType<typeof createClassifier> | null = null;
  return ({ reply: text, mx, address }: AskedReply) => {
    const reply = parseReply(text);
    if (reply === null) {
      const message = 'reply must begin with a code from 200 to 599, such as "550 5.1.1 User unknown".';
      throw new ApiError('invalid_parameter', message, { field: 'reply' });
    }
    classifier ??= createClassifier();
    const operator = mx === null ? null : (lists().provider(mx.toLowerCase())?.name ?? null);
    return { ...explainReply(classifier, reply, { stage: 'rcpt', operator, address: address ?? '' }), operator };
  };
}

/** How replies of mail servers are read, for operators. */
export const createReplyService = (store: Pick<Store, 'uncertainReplies'>, lists: WatchedDomainData) => ({
  /** As a reply to RCPT. Throws ApiError if it is no reply. */
  explain: createReplyExplainer(() => lists.current),
  /** Replies that were read with low confidence, the most frequent first. */
  uncertain: (limit: number) => store.uncertainReplies.list({ unmatched: false, limit }),
});

export type ReplyService = ReturnType<typeof createReplyService>;

/** Moves counts from memory to the store. If the store fails, nothing is lost: the next call writes them. */
export const uncertainFlush =
  (counter: UncertainReplyCounter, store: Pick<Store, 'uncertainReplies'>): (() => Promise<void>) =>
  async () => {
    const replies = counter.take();
    try {
      await store.uncertainReplies.add(replies);
    } catch (error) {
      counter.putBack(replies);
      throw error;
    }
  };
