import { SMTP_FINDINGS } from '../findings.ts';
import type { Clause } from './classify/clauses.ts';
import { type CodesFile, compileCodes, loadCodes } from './classify/codes.ts';
import { isRule, type Reading, type RuleFinding, type RuleId, ruleOf } from './classify/decide.ts';
import { announcedDelay } from './classify/delay.ts';
import { MAX_TEXT, plainWords, takeOutEchoes } from './classify/echoes.ts';
import {
  type Evidence,
  gather,
  isForModel,
  type ReadableReply,
  type Reader,
  type ReplyToRead,
  ruleOfClause,
  seenOf,
} from './classify/gather.ts';
import { compileLexicon, entriesOf, type LexiconFile, loadLexicon } from './classify/lexicon.ts';
import { joinLines } from './classify/line-breaks.ts';
import { loadModel, type Model, type Prediction, type Seen, type Weighed } from './classify/model.ts';
import { certaintyOf, opinionOf } from './classify/opinion.ts';
import { type Template, templateOf } from './classify/template.ts';
import { denies, isBadFinding, settle } from './classify/weigh.ts';
import type { SmtpReply } from './reply.ts';

export type { Reading };

/** How a reading came about. */
export interface Explanation {
  readonly reading: Reading;
  /** The text as it was read: without addresses, names and ids. */
  readonly plain: string;
  readonly clauses: readonly { readonly clause: Clause; readonly rule: RuleId | null }[];
  /** The enhanced code that counted, from the reply or its text, and what it stands for. */
  readonly enhanced: { readonly code: string; readonly rule: RuleId | null } | null;
  /** Other readings that clauses and codes allow, the likeliest first. */
  readonly alternatives: readonly { readonly rule: RuleId; readonly finding: RuleFinding }[];
  /** What the model makes of it, whether it was asked or not; null before RCPT and for what is not a 5xx. */
  readonly model: (Prediction & { readonly features: readonly Weighed[] }) | null;
}

export interface Classifier {
  /** Classifies a reply. Pure, never throws, bounded in time. */
  classify(input: ReplyToRead): Reading;
  /** The same, with the reasons. */
  explain(input: ReplyToRead): Explanation;
  /** What the model sees of a reply, for training. */
  see(input: ReplyToRead): Seen;
  /** Whether a rule that decided (`Reading.rule`) is about our IP address. */
  isAboutOurIp(rule: string): boolean;
  /** The text without addresses, names, numbers and ids: what uncertain replies are counted and kept by. */
  template(input: Pick<ReplyToRead, 'reply' | 'echoes'>): Template;
}

/** What replies are read with. */
interface ClassifierData {
  readonly lexicon: LexiconFile;
  readonly codes: CodesFile;
  /** Null: the rules alone decide. */
  readonly model: Model | null;
}

/** The package's data. Throws if a file is missing or invalid. */
export const loadClassifierData = (): ClassifierData => ({
  lexicon: loadLexicon(),
  codes: loadCodes(),
  model: loadModel(),
});

/** The finding for a 4xx reply; the two session actions stay as they are. */
const on4xx = (finding: RuleFinding): RuleFinding =>
  finding === 'reconnect' || finding === 'starttls_required' ? finding : SMTP_FINDINGS[finding].on4xx;

interface ClassifierOptions {
  /** The names of the provider table; if given, a row for an operator that is not among them throws. */
  readonly operators?: ReadonlySet<string>;
  /** Phrases of the lexicon and ids of operators' rows to do without, for measurements. */
  readonly leftOut?: ReadonlySet<string>;
}

export function createClassifier(
  data: ClassifierData = loadClassifierData(),
  { operators, leftOut = new Set() }: ClassifierOptions = {},
): Classifier {
  const forms = data.codes.operators.filter(({ id }) => !leftOut.has(id));
  const keep = new Set(data.lexicon.keep);
  const isBlocklist = suffixes(data.lexicon.blocklists);
  const lexicon = compileLexicon(entriesOf(data.lexicon).filter(({ phrase }) => !leftOut.has(phrase)));
  const reader: Reader = {
    lexicon,
    model: data.model,
    codes: compileCodes({ ...data.codes, operators: forms }, operators),
    plain: (text, echoes) => takeOutEchoes(text, echoes, isBlocklist, keep),
  };
  const ofRow = new Map(forms.map(({ id, rule }) => [id, rule] as const));
  return {
    isAboutOurIp: (id) => {
      const rule = ofRow.get(id) ?? (isRule(id) ? id : null);
      return rule !== null && ruleOf(rule).meaning === 'us_ip';
    },
    classify: (input) => classify(input, reader),
    explain: (input) => explain(input, reader),
    see: (input) => {
      const { text, code } = input.reply;
      const evidence = gather(input, text.slice(0, MAX_TEXT), reader);
      return seenOf(evidence, code, decide(evidence, code, text).rule);
    },
    template: ({ reply, echoes }) =>
      templateOf(reply, plainWords(reader.plain(reply.text, echoes).marked), echoes, lexicon.has),
  };
}

const CLOSING = /closing (?:transmission|connection)/i;

/** One line accepts and another refuses, or one refuses for good and another for now: a 4xx at the end is believed. */
const contradictsItself = ({ code, mixed = false }: ReadableReply): boolean => mixed && (code < 400 || code >= 500);

const isAccepted = ({ code, text }: Pick<SmtpReply, 'code' | 'text'>): boolean =>
  code >= 200 && code < 300 && !CLOSING.test(text);

function classify(input: ReplyToRead, reader: Reader): Reading {
  const { code, text } = input.reply;
  if (contradictsItself(input.reply)) return unmatched(code, null, text);
  // The most frequent reply is decided by its code alone.
  if (isAccepted(input.reply)) return reading('accepted.2xx', 'accepted.2xx', code, text);
  return consider(input, reader).reading;
}

interface Considered {
  readonly evidence: Evidence;
  readonly reading: Reading;
}

/** Where lines may have been cut inside of words, an address is bad only if it is so read in both ways. */
function consider(input: ReplyToRead, reader: Reader): Considered {
  const { texts = [] } = input.reply;
  const text = input.reply.text.slice(0, MAX_TEXT);
  const joined = texts.length < 2 ? text : joinLines(texts, input.echoes, reader.lexicon);
  const mended = considerText(input, joined, reader);
  if (joined === text || !isBadFinding(mended.reading.finding)) return mended;
  const apart = considerText(input, text, reader);
  return isBadFinding(apart.reading.finding) ? mended : apart;
}

function considerText(input: ReplyToRead, text: string, reader: Reader): Considered {
  const evidence = gather(input, text, reader);
  const decided = decide(evidence, input.reply.code, text);
  return {
    evidence,
    reading: isForModel(input, evidence) ? consult(evidence, decided, input.reply.code, reader) : decided,
  };
}

/** What a reading becomes with the model, which is asked only where it may change it. */
function consult(evidence: Evidence, decided: Reading, code: number, { model }: Reader): Reading {
  const certainty = certaintyOf(decided);
  if (model === null || certainty === 'sure') return decided;
  const prediction = model.predict(seenOf(evidence, code, decided.rule));
  const { dead: probability } = prediction;
  const opinion = opinionOf(prediction, certainty, { ...evidence, denies: denies(evidence.segments) });
  if (opinion === null) return { ...decided, probability };
  return { ...reading(opinion, opinion, code, ''), readBy: 'model', probability };
}

function decide({ form, rules, status }: Evidence, code: number, text: string): Reading {
  if (form !== null) return reading(form.rule, form.id, code, text);
  const rule = settle(rules);
  return rule === null ? unmatched(code, status, text) : reading(rule, rule, code, text);
}

function explain(input: ReplyToRead, reader: Reader): Explanation {
  const { code } = input.reply;
  if (isAccepted(input.reply) || contradictsItself(input.reply)) {
    const decided = classify(input, reader);
    return { reading: decided, plain: '', clauses: [], enhanced: null, alternatives: [], model: null };
  }
  const { evidence, reading: decided } = consider(input, reader);
  const seen = seenOf(evidence, code, decide(evidence, code, '').rule);
  const { model } = reader;
  const others = new Set(evidence.rules.filter((rule) => rule !== decided.rule));
  return {
    reading: decided,
    plain: plainWords(evidence.plain.marked),
    clauses: evidence.clauses.map((clause) => ({ clause, rule: ruleOfClause(clause) })),
    enhanced: evidence.status === null ? null : { code: evidence.status, rule: evidence.ofStatus },
    alternatives: [...others].map((rule) => ({ rule, finding: findingFor(rule, code) })),
    model:
      model === null || !isForModel(input, evidence) ? null : { ...model.predict(seen), features: model.explain(seen) },
  };
}

const findingFor = (rule: RuleId, code: number): RuleFinding => {
  const { finding } = ruleOf(rule);
  // A 4xx never means bad, whatever its text.
  return code >= 400 && code < 500 ? on4xx(finding) : finding;
};

function reading(rule: RuleId, id: string, code: number, text: string): Reading {
  const { meaning, weak } = { weak: false, ...ruleOf(rule) };
  return {
    meaning,
    finding: findingFor(rule, code),
    rule: id,
    readBy: isRule(id) ? 'rule' : 'operator',
    probability: null,
    matched: true,
    confidence: weak ? 'low' : 'high',
    retryAfter: (code >= 400 && code < 500) || meaning === 'greylisted' ? announcedDelay(text) : null,
  };
}

function unmatched(code: number, status: string | null, text: string): Reading {
  const temporary = code >= 400 && code < 500;
  if (temporary && status !== null) return reading('class.4xx', 'class.4xx', code, text);
  return {
    meaning: temporary ? 'remote_temporary' : 'unclear',
    finding: temporary ? 'smtp_temporary_failure' : 'smtp_unverifiable',
    rule: temporary ? 'unmatched.4xx' : code >= 500 ? 'unmatched.5xx' : 'unmatched.other',
    readBy: 'rule',
    probability: null,
    matched: false,
    confidence: 'low',
    retryAfter: temporary ? announcedDelay(text) : null,
  };
}

/** Whether a host is one of these domains or a subdomain. */
function suffixes(domains: readonly string[]): (host: string) => boolean {
  const known = new Set(domains);
  return (host) => {
    for (let at = 0; at !== -1; ) {
      if (known.has(at === 0 ? host : host.slice(at))) return true;
      const dot = host.indexOf('.', at);
      at = dot === -1 ? -1 : dot + 1;
    }
    return false;
  };
}
