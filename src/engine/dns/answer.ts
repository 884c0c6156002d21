/** From replies to the answer to one question: CNAMEs followed, lifetimes bounded. */
import type { Question, Reply } from './message.ts';
import { canBeAsked, type DnsAnswer, type DnsFailure, type DnsRecord, type RecordType } from './records.ts';
import type { Outcome } from './transport.ts';

/** CNAMEs in a row; resolvers give up between 8 and 16. */
const MAX_CHAIN = 8;

/** Seconds that an answer is kept, whatever its TTL says. */
const KEEP = { least: 60, most: 3600 } as const;
/** Of a "no": at most 5 minutes; a few seconds even when the zone says 0 or nothing, so that a burst is one question. */
const KEEP_NO = { least: 5, most: 300 } as const;

const clamp = (ttl: number, to: { least: number; most: number }): number => Math.min(to.most, Math.max(to.least, ttl));

interface Walk {
  /** The name asked first, and all that CNAMEs led to. */
  readonly names: string[];
  ttl: number;
}

/**
 * The answer that `ask` leads to, with a further question for each CNAME whose target the reply does not hold. Chains
 * longer than 8, loops, and targets that cannot be asked for are `malformed`.
 */
export async function follow(question: Question, ask: (question: Question) => Promise<Outcome>): Promise<DnsAnswer> {
  const walk: Walk = { names: [question.name], ttl: KEEP.most };
  for (;;) {
    const outcome = await ask({ name: walk.names.at(-1)!, type: question.type });
    if (outcome.kind !== 'reply') return outcome;
    const answer = step(walk, question.type, outcome.reply);
    if (answer) return answer;
  }
}

/** Goes as far as this reply leads. Null: the last name in `walk` is still to be asked. */
function step(walk: Walk, type: RecordType, reply: Reply): DnsAnswer | null {
  const before = walk.names.length;
  const failure = chase(walk, type, reply);
  if (failure) return { kind: failure };
  const name = walk.names.at(-1)!;
  const cname = walk.names.slice(1);
  const records: DnsRecord[] = [];
  for (const { owner, ttl, record } of reply.records) {
    if (owner !== name || record.type !== type) continue;
    records.push(record);
    walk.ttl = Math.min(walk.ttl, ttl);
  }
  if (records.length > 0) return { kind: 'records', records, ttl: clamp(walk.ttl, KEEP), cname };
  // A server that holds only the beginning of the chain says nothing of its end (RFC 1034 §4.3.2): no SOA, then.
  if (walk.names.length > before && reply.negativeTtl === null && !reply.nxdomain) return null;
  const ttl = clamp(Math.min(walk.ttl, reply.negativeTtl ?? 0), KEEP_NO);
  return { kind: reply.nxdomain ? 'nxdomain' : 'nodata', ttl, cname };
}

/** Follows the CNAMEs within one reply. */
function chase(walk: Walk, type: RecordType, reply: Reply): DnsFailure | null {
  if (type === 'CNAME') return null;
  for (;;) {
    const name = walk.names.at(-1)!;
    // Some zones have records beside a CNAME, against RFC 1034 §3.6.2; those asked for are then what counts.
    if (reply.records.some(({ owner, record }) => owner === name && record.type === type)) return null;
    const link = reply.records.find(({ owner, record }) => owner === name && record.type === 'CNAME');
    if (link?.record.type !== 'CNAME') return null;
    const target = link.record.host;
    if (walk.names.includes(target) || walk.names.length > MAX_CHAIN || !canBeAsked(target)) return 'malformed';
    walk.names.push(target);
    walk.ttl = Math.min(walk.ttl, link.ttl);
  }
}
