import type { SmtpStage } from '../evidence.ts';
import { SMTP_FINDINGS } from '../findings.ts';
import { type Clause, clausesOf, type Subject } from './classify/clauses.ts';
import { type Codes, type CodesFile, compileCodes, loadCodes, type OperatorRow } from './classify/codes.ts';
import { type Echoes, MAX_TEXT, type Plain, plainWords, takeOutEchoes, templateOf } from './classify/echoes.ts';
import {
  compileLexicon,
  joinLines,
  type Lexicon,
  type LexiconFile,
  type LexiconToken,
  lexiconEntries,
  loadLexicon,
  type Segment,
  type Slot,
  segmentsOf,
  wordsOf,
} from './classify/lexicon.ts';
import {
  certaintyOf,
  loadModel,
  type Model,
  neededFor,
  opinionOf,
  type Prediction,
  type Said,
  type Seen,
  THRESHOLDS,
  type Thresholds,
  type Weighed,
} from './classify/model.ts';
import {
  aboutRecipient,
  considerWhose,
  contradicted,
  DECISIONS,
  denies,
  isBadFinding,
  isBadRule,
  isRule,
  mayDecide,
  ofReplyCode,
  type RuleFinding,
  type RuleId,
  type RuleReading,
  ruleOf,
  settle,
  TROUBLE,
  waiting,
} from './classify/rules.ts';
import type { SmtpReply } from './reply.ts';

/** `texts`, `mixed`: if the lines are known. */
type ReadableReply = Pick<SmtpReply, 'code' | 'enhanced' | 'text'> & Partial<Pick<SmtpReply, 'texts' | 'mixed'>>;

interface ReplyToRead {
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

interface Reader {
  readonly lexicon: Lexicon;
  readonly model: Model | null;
  readonly thresholds: Thresholds;
  readonly codes: Codes;
  readonly plain: (text: string, echoes: Echoes) => Plain;
}

/** What a reply was read from, and the rules that this leads to, the highest first. */
interface ReplyEvidence {
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
 * RCPT, against an operator's own form, or of a code without words that say something.
 */
const isForModel = ({ stage, reply }: ReplyToRead, { form, segments }: ReplyEvidence): boolean =>
  reply.code > 503 && !BEFORE_RCPT[stage] && form === null && segments.some(({ tokens }) => tokens.some(saysSomething));

const JOINING: ReadonlySet<Slot> = new Set<Slot>(['filler', 'cut', 'prep', 'of', 'by']);
const saysSomething = ({ text, slots: [slot] }: LexiconToken): boolean =>
  !/^[@\d]/.test(text) && (slot === undefined || !JOINING.has(slot));

const seenOf = ({ status, words, segments, clauses, rules }: ReplyEvidence, code: number, rule: string): Seen => ({
  code,
  enhanced: status,
  words,
  segments,
  clauses,
  rule,
  others: rules.filter((one) => one !== rule),
});

function gatherEvidence(input: ReplyToRead, text: string, { plain: plainOf, lexicon, codes }: Reader): ReplyEvidence {
  const { code, enhanced } = input.reply;
  const early = BEFORE_RCPT[input.stage];
  const plain = plainOf(text, input.echoes);
  // qmail and others put the enhanced code into the text only; it counts if its class matches the code's.
  const ofText = plain.enhanced !== null && plain.enhanced[0] === String(code)[0] ? plain.enhanced : null;
  const status = enhanced ?? ofText;
  const isRefusal = code >= 400;
  const words = wordsOf(isRefusal ? plain.marked : '');
  const segments = segmentsOf(words, lexicon);
  const { clauses, named } = clausesOf(segments);
  const found = new Set<RuleId>();
  for (const clause of clauses) {
    const rule = ruleOfClause(clause);
    if (rule !== null && !contradicted(rule, status))
      found.add(code < 500 && rule === 'remote.unverified' ? 'remote.error' : rule);
  }
  const ofStatus = isRefusal ? codes.enhanced(status) : null;
  if (ofStatus !== null && mayDecide(ofStatus, code, segments)) found.add(ofStatus);
  considerWhose(found, code, named, segments);
  const more = [ofReplyCode(code, found), waiting(code, status, found, named)];
  for (const rule of more) if (rule !== null) found.add(rule);
  // Before RCPT no mailbox has been named, and a fault that lasts is a refusal: both are about the client.
  if (early && code >= 500) found.add('last.early-5xx');
  if (early && code >= 500 && [...found].some((rule) => isBadRule(rule) || TROUBLE.includes(rule)))
    found.add('us.early');
  const rules = [...found].filter((rule) => !early || !aboutRecipient(rule));
  rules.sort((a, b) => ruleOf(b).rank - ruleOf(a).rank);
  const said = { code, enhanced: status, operator: input.operator, words: words.words };
  const form = isRefusal ? codes.operator(said) : null;
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

const ruleOfClause = ({ subject, predicate, general }: Clause): RuleId | null => {
  const rule = DECISIONS[predicate][subject];
  return general && rule === 'us.ip' ? 'us.client-rejected' : rule;
};

/** A delay beyond a day is not worth remembering, and a hostile server could announce a year. */
const MAX_DELAY_SECONDS = 86_400;

const CLOCK = /(?<![\d:.])(\d{1,2}):([0-5]\d):([0-5]\d)(?![\d:])/;
const UNIT =
  '(s(?:ec(?:ond(?:s|e|en|es|i|o|os)?)?s?|ek(?:unden)?)?|секунд\\p{L}*|秒|m(?:in(?:ut(?:e|es|en|o|os|i|y|a)?)?s?)?|минут\\p{L}*|分|h(?:(?:ou)?rs?|ours?|eures?)?|std|stunden?|horas?|ore|godzin\\p{L}*|час\\p{L}*|d(?:ays?)?)';
/** `5 minutes`, `180sec`, `4m30s`, `1 hour 30 minutes`. */
const SPAN = new RegExp(`(?<![\\p{L}\\d.:])(\\d{1,6}) ?${UNIT}(?![\\p{L}])|(?<=\\d[mh] ?)(\\d{1,5}) ?(s|m)\\b`, 'giu');
/** A duration counts only after a phrase about waiting: "300 messages per 5 minutes" does not. */
const WAITING_WORDS =
  /\b(?:in|after|for|wait|within|least|another|until|about|approx\w*|timeout|retry|delay(?:ed)?|dans|apr[eè]s|en|nach|tra|fra|za|po)\s*[:=(]?\s*(?:at least |about |approx\w*\.? |another |the next |ca\.? |~ ?)?$|(?:через|以降|請|请)\s*$/iu;
const NO_WAIT_BEFORE = /\b(?:last|past|per|previous|every|more than|less than|maximum of|limit)\W*$/i;

const UNIT_SECONDS: readonly (readonly [RegExp, number])[] = [
  [/^(?:s|сек|秒)(?!td|tun)/i, 1],
  [/^(?:m|мин|分)/i, 60],
  [/^(?:h|std|stun|ore|godz|час)/i, 3600],
  [/^d/i, 86_400],
];
const secondsOf = (unit: string): number => UNIT_SECONDS.find(([pattern]) => pattern.test(unit))?.[1] ?? 1;

/**
 * The delay that a temporary refusal announces, in seconds from 1 to 86,400, or null: "try again in 5 minutes",
 * "retry after 300 seconds", "Greylisted for 180 seconds", "please come back in 00:04:59".
 */
export function announcedDelay(text: string): number | null {
  const head = text.slice(0, 1500);
  if (!/\d/.test(head)) return null;
  const clock = CLOCK.exec(head);
  if (clock !== null && waits(head.slice(0, clock.index))) {
    return bounded(Number(clock[1]) * 3600 + Number(clock[2]) * 60 + Number(clock[3]));
  }
  let total = 0;
  let end = -1;
  for (const match of head.matchAll(SPAN)) {
    const between = end < 0 ? '' : head.slice(end, match.index);
    if (end < 0 ? !waits(head.slice(0, match.index)) : !/^(?:\s*|\s*,?\s*(?:and|und|et)\s+|\s*,\s*)$/i.test(between)) {
      if (end < 0) continue;
      break;
    }
    total += Number(match[1] ?? match[3]) * secondsOf(match[2] ?? match[4] ?? 's');
    end = match.index + match[0].length;
  }
  return bounded(total);
}

const waits = (before: string): boolean => {
  const near = before.slice(-40);
  return WAITING_WORDS.test(near) && !NO_WAIT_BEFORE.test(near);
};

const bounded = (seconds: number): number | null => (seconds < 1 ? null : Math.min(seconds, MAX_DELAY_SECONDS));

export type { RuleReading };

/** Says how a reading came about. */
export interface Explanation {
  readonly reading: RuleReading;
  /** The text as it was read: without addresses, names and ids. */
  readonly plain: string;
  readonly clauses: readonly { readonly clause: Clause; readonly rule: RuleId | null }[];
  /** The enhanced code that counted, from the reply or its text, and what it stands for. */
  readonly enhanced: { readonly code: string; readonly rule: RuleId | null } | null;
  /** Other readings that clauses and codes allow, the likeliest first. */
  readonly alternatives: readonly { readonly rule: RuleId; readonly finding: RuleFinding }[];
  /** What the model makes of it, whether it was asked or not; null before RCPT and for what is not a 5xx. */
  readonly model: (Prediction & { readonly features: readonly Weighed[]; readonly needed: number | null }) | null;
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
  /** They differ from the chosen ones, for measurements. */
  readonly thresholds?: Thresholds;
}

export function createClassifier(
  data: ClassifierData = loadClassifierData(),
  { operators, leftOut = new Set(), thresholds = THRESHOLDS }: ClassifierOptions = {},
) {
  const forms = data.codes.operators.filter(({ id }) => !leftOut.has(id));
  const keep = new Set(data.lexicon.keep);
  const isBlocklist = suffixes(data.lexicon.blocklists);
  const lexicon = compileLexicon(lexiconEntries(data.lexicon).filter(({ phrase }) => !leftOut.has(phrase)));
  const reader: Reader = {
    lexicon,
    model: data.model,
    thresholds,
    codes: compileCodes({ ...data.codes, operators: forms }, operators),
    plain: (text, echoes) => takeOutEchoes(text, echoes, isBlocklist, keep),
  };
  const ofRow = new Map(forms.map(({ id, rule }) => [id, rule] as const));
  return {
    /** Whether a rule that decided (`Reading.rule`) is about our IP address. */
    isAboutOurIp: (id: string) => {
      const rule = ofRow.get(id) ?? (isRule(id) ? id : null);
      return rule !== null && ruleOf(rule).meaning === 'us_ip';
    },
    /** Classifies a reply. Pure, never throws, bounded in time. */
    classify: (input: ReplyToRead) => classify(input, reader),
    /** Does the same, and gives the reasons. */
    explain: (input: ReplyToRead) => explainClass(input, reader),
    /** What the model sees of a reply, for training. */
    see: (input: ReplyToRead) => {
      const { text, code } = input.reply;
      const evidence = gatherEvidence(input, text.slice(0, MAX_TEXT), reader);
      return seenOf(evidence, code, decideByRules(evidence, code, text).rule);
    },
    /** The text without addresses, names, numbers and ids: what uncertain replies are counted and kept by. */
    template: ({ reply, echoes }: Pick<ReplyToRead, 'reply' | 'echoes'>) =>
      templateOf(reply, plainWords(reader.plain(reply.text, echoes).marked), echoes, lexicon.has),
  };
}

export type Classifier = ReturnType<typeof createClassifier>;

const CLOSING = /closing (?:transmission|connection)/i;

/** One line accepts and another refuses, or one refuses for good and another for now: a 4xx at the end is believed. */
const contradictsItself = ({ code, mixed = false }: ReadableReply): boolean => mixed && (code < 400 || code >= 500);

const isAccepted = ({ code, text }: Pick<SmtpReply, 'code' | 'text'>): boolean =>
  code >= 200 && code < 300 && !CLOSING.test(text);

function classify(input: ReplyToRead, reader: Reader): RuleReading {
  const { code, text } = input.reply;
  if (contradictsItself(input.reply)) return unmatched(code, null, text);
  // The most frequent reply is decided by its code alone.
  if (isAccepted(input.reply)) return readingOfRule('accepted.2xx', 'accepted.2xx', code, text);
  return consider(input, reader).reading;
}

interface Considered {
  readonly evidence: ReplyEvidence;
  readonly reading: RuleReading;
}

/** Where lines may have been cut inside of words, an address is bad only if it is so read in both ways. */
function consider(input: ReplyToRead, reader: Reader): Considered {
  const { texts = [] } = input.reply;
  const text = input.reply.text.slice(0, MAX_TEXT);
  const joined = texts.length < 2 ? text : joinLines(texts, input.echoes, reader.lexicon);
  const joinedResult = considerText(input, joined, reader);
  if (joined === text || !isBadFinding(joinedResult.reading.finding)) return joinedResult;
  const asSent = considerText(input, text, reader);
  return isBadFinding(asSent.reading.finding) ? joinedResult : asSent;
}

function considerText(input: ReplyToRead, text: string, reader: Reader): Considered {
  const evidence = gatherEvidence(input, text, reader);
  const decided = decideByRules(evidence, input.reply.code, text);
  return {
    evidence,
    reading: isForModel(input, evidence) ? consult(evidence, decided, input.reply.code, reader) : decided,
  };
}

const saidIn = (evidence: ReplyEvidence): Said => ({ ...evidence, denies: denies(evidence.segments) });

/** What a reading becomes with the model, which is asked only where it may change it. */
function consult(
  evidence: ReplyEvidence,
  decided: RuleReading,
  code: number,
  { model, thresholds }: Reader,
): RuleReading {
  const certainty = certaintyOf(decided);
  if (model === null || certainty === 'sure') return decided;
  const prediction = model.predict(seenOf(evidence, code, decided.rule));
  const { dead: probability } = prediction;
  const opinion = opinionOf(prediction, certainty, saidIn(evidence), thresholds);
  if (opinion === null) return { ...decided, probability };
  return { ...readingOfRule(opinion, opinion, code, ''), readBy: 'model', probability };
}

function decideByRules({ form, rules, status }: ReplyEvidence, code: number, text: string): RuleReading {
  if (form !== null) return readingOfRule(form.rule, form.id, code, text);
  const rule = settle(rules);
  return rule === null ? unmatched(code, status, text) : readingOfRule(rule, rule, code, text);
}

function explainClass(input: ReplyToRead, reader: Reader): Explanation {
  const { code } = input.reply;
  if (isAccepted(input.reply) || contradictsItself(input.reply)) {
    const decided = classify(input, reader);
    return { reading: decided, plain: '', clauses: [], enhanced: null, alternatives: [], model: null };
  }
  const { evidence, reading: decided } = consider(input, reader);
  const byRules = decideByRules(evidence, code, '');
  const seen = seenOf(evidence, code, byRules.rule);
  const needed = neededFor(certaintyOf(byRules), saidIn(evidence), reader.thresholds);
  const { model } = reader;
  const others = new Set(evidence.rules.filter((rule) => rule !== decided.rule));
  return {
    reading: decided,
    plain: plainWords(evidence.plain.marked),
    clauses: evidence.clauses.map((clause) => ({ clause, rule: ruleOfClause(clause) })),
    enhanced: evidence.status === null ? null : { code: evidence.status, rule: evidence.ofStatus },
    alternatives: [...others].map((rule) => ({ rule, finding: findingFor(rule, code) })),
    model:
      model === null || !isForModel(input, evidence)
        ? null
        : { ...model.predict(seen), features: model.explain(seen), needed },
  };
}

const findingFor = (rule: RuleId, code: number): RuleFinding => {
  const { finding } = ruleOf(rule);
  // A 4xx never means bad, whatever its text.
  return code >= 400 && code < 500 ? on4xx(finding) : finding;
};

function readingOfRule(rule: RuleId, id: string, code: number, text: string): RuleReading {
  const { meaning, weak } = { weak: false, ...ruleOf(rule) };
  return {
    meaning,
    finding: findingFor(rule, code),
    rule: id,
    readBy: isRule(id) ? 'rule' : 'operator',
    probability: null,
    matched: true,
    confidence: weak ? 'low' : 'high',
    retryAfterSeconds: (code >= 400 && code < 500) || meaning === 'greylisted' ? announcedDelay(text) : null,
  };
}

function unmatched(code: number, status: string | null, text: string): RuleReading {
  const temporary = code >= 400 && code < 500;
  if (temporary && status !== null) return readingOfRule('class.4xx', 'class.4xx', code, text);
  return {
    meaning: temporary ? 'remote_temporary' : 'unclear',
    finding: temporary ? 'smtp_temporary_failure' : 'smtp_unverifiable',
    rule: temporary ? 'unmatched.4xx' : code >= 500 ? 'unmatched.5xx' : 'unmatched.other',
    readBy: 'rule',
    probability: null,
    matched: false,
    confidence: 'low',
    retryAfterSeconds: temporary ? announcedDelay(text) : null,
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
