import type { SmtpStage } from '../../evidence.ts';
import type { SmtpReply } from '../reply.ts';
import { type Clause, clausesOf } from './clauses.ts';
import type { Codes, OperatorRow } from './codes.ts';
import { DECISIONS, type RuleId, ruleOf } from './decide.ts';
import type { Echoes, Plain } from './echoes.ts';
import type { Lexicon } from './lexicon.ts';
import type { Model, Seen } from './model.ts';
import type { Subject } from './predicates.ts';
import { type Segment, segmentsOf, wordsOf } from './tokens.ts';
import { aboutRecipient, considerWhose, contradicted, isBad, mayDecide, ofReplyCode, waiting } from './weigh.ts';

/** `texts`, `mixed`: if the lines are known. */
export type ReadableReply = Pick<SmtpReply, 'code' | 'enhanced' | 'text'> & Partial<Pick<SmtpReply, 'texts' | 'mixed'>>;

export interface ReplyToRead {
  /** Where the reply was given. `probe` is read as `rcpt`. */
  readonly stage: SmtpStage;
  readonly reply: ReadableReply;
  /** Name from the provider table; null if the MX belongs to no known provider. */
  readonly operator: string | null;
  readonly echoes: Echoes;
}

/** Whether this stage precedes the first recipient. */
const BEFORE_RCPT: Readonly<Record<SmtpStage, boolean>> = {
  connect: true,
  banner: true,
  ehlo: true,
  starttls: true,
  mail: true,
  rset: true,
  rcpt: false,
  probe: false,
};

export interface Reader {
  readonly lexicon: Lexicon;
  readonly model: Model | null;
  readonly codes: Codes;
  readonly plain: (text: string, echoes: Echoes) => Plain;
}

/** What a reply was read from, and the rules that this leads to, the highest first. */
export interface Evidence {
  readonly plain: Plain;
  readonly status: string | null;
  readonly ofStatus: RuleId | null;
  readonly words: readonly string[];
  readonly segments: readonly Segment[];
  readonly named: ReadonlySet<Subject>;
  readonly clauses: readonly Clause[];
  readonly rules: readonly RuleId[];
  /** A row for the operator's own form decides before anything else. */
  readonly form: OperatorRow | null;
}

/**
 * The model decides nothing about a 4xx, which is never bad, about 500 to 503, which are about the command, before
 * RCPT, against an operator's own form, or of a code without words.
 */
export const isForModel = ({ stage, reply }: ReplyToRead, { form, words }: Evidence): boolean =>
  reply.code > 503 && !BEFORE_RCPT[stage] && form === null && words.some((word) => !/^[@\d]/.test(word));

export const seenOf = ({ status, words, segments, clauses, rules }: Evidence, code: number, rule: string): Seen => ({
  ...{ code, enhanced: status, words, segments, clauses, rule },
  others: rules.filter((one) => one !== rule),
});

export function gather(input: ReplyToRead, text: string, { plain: plainOf, lexicon, codes }: Reader): Evidence {
  const { code, enhanced } = input.reply;
  const early = BEFORE_RCPT[input.stage];
  const plain = plainOf(text, input.echoes);
  // qmail and others put the enhanced code into the text only; it counts if its class matches the code's.
  const ofText = plain.enhanced !== null && plain.enhanced[0] === String(code)[0] ? plain.enhanced : null;
  const status = enhanced ?? ofText;
  if (code < 400)
    return {
      plain,
      status,
      ofStatus: null,
      words: [],
      segments: [],
      named: new Set(),
      clauses: [],
      rules: [],
      form: null,
    };
  const words = wordsOf(plain.marked);
  const segments = segmentsOf(words, lexicon);
  const { clauses, named, isQuoting } = clausesOf(segments);
  const found = new Set<RuleId>();
  for (const clause of clauses) {
    const rule = ruleOfClause(clause);
    if (rule !== null && !contradicted(rule, status))
      found.add(code < 500 && rule === 'remote.unverified' ? 'remote.error' : rule);
  }
  const ofStatus = codes.enhanced(status);
  if (ofStatus !== null && !(isQuoting && isBad(ofStatus)) && mayDecide(ofStatus, code, segments, clauses))
    found.add(ofStatus);
  considerWhose(found, code, named, segments);
  const more = [ofReplyCode(code, found), waiting(code, status, found)];
  for (const rule of more) if (rule !== null) found.add(rule);
  // Before RCPT no mailbox has been named: what sounds like one is about the client.
  if (early && code >= 500) found.add('last.early-5xx');
  if (early && code >= 500 && [...found].some(isBad)) found.add('us.early');
  const rules = [...found].filter((rule) => !early || !aboutRecipient(rule));
  rules.sort((a, b) => ruleOf(b).rank - ruleOf(a).rank);
  const form = codes.operator({ code, enhanced: status, operator: input.operator, words: words.words });
  return {
    plain,
    status,
    ofStatus,
    words: words.words,
    segments,
    named,
    clauses,
    rules,
    form: form !== null && early && aboutRecipient(form.rule) ? null : form,
  };
}

export const ruleOfClause = ({ subject, predicate, general }: Clause): RuleId | null => {
  const rule = DECISIONS[predicate][subject];
  return general && rule === 'us.ip' ? 'us.client-rejected' : rule;
};
