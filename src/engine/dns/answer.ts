/** Resolves one query from its replies: follows CNAMEs and bounds TTLs. */
import type { Question, Reply } from './message.ts';
import { canBeAsked, type DnsAnswer, type DnsFailure, type DnsRecord, type RecordType } from './records.ts';
import type { Outcome } from './transport.ts';

/** Length of a CNAME chain; resolvers give up between 8 and 16. */
const MAX_CHAIN = 8;

/** Bounds of a positive answer's TTL, in seconds. */
const TTL_BOUNDS = { least: 60, most: 3600 } as const;
/**
 * Of a negative answer: at most 5 minutes; a few seconds even without an SOA, so that a burst causes a single query.
 */
const NEGATIVE_TTL_BOUNDS = { least: 5, most: 300 } as const;

/** Of nearly all answers, of which the cache keeps many. */
const NO_CHAIN: readonly string[] = [];

const clamp = (ttl: number, to: { least: number; most: number }): number => Math.min(to.most, Math.max(to.least, ttl));

interface Walk {
  /** The queried name and all CNAME targets. */
  readonly names: string[];
  ttl: number;
}

/**
 * Sends the query, and another one for each CNAME target that the reply does not contain. Chains longer than 8, loops
 * and targets that cannot be queried are `malformed`.
 */
export function follow(
  question: Question,
  ask: (question: Question, done: (outcome: Outcome) => void) => void,
  done: (answer: DnsAnswer) => void,
): void {
  const walk: Walk = { names: [question.name], ttl: TTL_BOUNDS.most };
  const onOutcome = (outcome: Outcome): void => {
    const answer = outcome.kind === 'reply' ? step(walk, question.type, outcome.reply) : outcome;
    if (answer) done(answer);
    else ask({ name: lastName(walk), type: question.type }, onOutcome);
  };
  ask(question, onOutcome);
}

const lastName = ({ names }: Walk): string => names.at(-1) ?? '';

/** Follows the chain within this reply. Null: the last name in `walk` still has to be queried. */
function step(walk: Walk, type: RecordType, reply: Reply): DnsAnswer | null {
  const before = walk.names.length;
  const failure = followInReply(walk, type, reply);
  if (failure) return { kind: failure };
  const name = lastName(walk);
  const cname = walk.names.length === 1 ? NO_CHAIN : walk.names.slice(1);
  const records: DnsRecord[] = [];
  for (const { owner, ttl, record } of reply.records) {
    if (owner !== name || record.type !== type) continue;
    records.push(record);
    walk.ttl = Math.min(walk.ttl, ttl);
  }
  if (records.length > 0) return { kind: 'records', records, ttl: clamp(walk.ttl, TTL_BOUNDS), cname };
  // A reply that contains only the start of the chain has no SOA for its end (RFC 1034 §4.3.2).
  if (walk.names.length > before && reply.negativeTtl === null && !reply.nxdomain) return null;
  const ttl = clamp(Math.min(walk.ttl, reply.negativeTtl ?? 0), NEGATIVE_TTL_BOUNDS);
  return { kind: reply.nxdomain ? 'nxdomain' : 'nodata', ttl, cname };
}

/** Follows the CNAMEs within one reply. */
function followInReply(walk: Walk, type: RecordType, reply: Reply): DnsFailure | null {
  if (type === 'CNAME') return null;
  for (;;) {
    const name = lastName(walk);
    // Some zones have other records next to a CNAME, against RFC 1034 §3.6.2; records of the queried type win.
    if (reply.records.some(({ owner, record }) => owner === name && record.type === type)) return null;
    const link = reply.records.find(({ owner, record }) => owner === name && record.type === 'CNAME');
    if (link?.record.type !== 'CNAME') return null;
    const target = link.record.host;
    if (walk.names.includes(target) || walk.names.length > MAX_CHAIN || !canBeAsked(target)) return 'malformed';
    walk.names.push(target);
    walk.ttl = Math.min(walk.ttl, link.ttl);
  }
}
