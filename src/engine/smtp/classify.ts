import type { SmtpStage } from '../evidence.ts';
import { SMTP_FINDINGS } from '../findings.ts';
import { type Clause, clausesOf } from './classify/clauses.ts';
import { type Codes, type CodesFile, compileCodes, loadCodes, type OperatorRow } from './classify/codes.ts';
import { DECISIONS, isRule, type Meaning, type RuleFinding, type RuleId, ruleOf } from './classify/decide.ts';
import { announcedDelay } from './classify/delay.ts';
import { type Echoes, MAX_TEXT, type Plain, plainWords, takeOutEchoes } from './classify/echoes.ts';
import { compileLexicon, entriesOf, type Lexicon, type LexiconFile, loadLexicon } from './classify/lexicon.ts';
import { joinLines } from './classify/line-breaks.ts';
import { type Template, templateOf } from './classify/template.ts';
import { segmentsOf, wordsOf } from './classify/tokens.ts';
import {
  aboutRecipient,
  considerWhose,
  contradicted,
  isBad,
  isBadFinding,
  mayDecide,
  ofReplyCode,
  settle,
  waiting,
} from './classify/weigh.ts';
import type { Reply } from './reply.ts';

/** `texts`, `mixed`: if the lines are known. */
type ReadableReply = Pick<Reply, 'code' | 'enhanced' | 'text'> & Partial<Pick<Reply, 'texts' | 'mixed'>>;

interface ReplyToRead {
  /** Where the reply was given. `probe` is read as `rcpt`. */
  readonly stage: SmtpStage;
  readonly reply: ReadableReply;
  /** Name from the provider table; null if the MX belongs to no known provider. */
  readonly operator: string | null;
  readonly echoes: Echoes;
}

export interface Reading {
  readonly meaning: Meaning;
  /**
   * `reconnect`: ask again in a new session; for the first recipient of a session it is a temporary failure.
   * `starttls_required`: ask again under TLS.
   */
  readonly finding: RuleFinding;
  /**
   * Id of what decided (decide.ts, or a row of data/smtp-codes.json), or `unmatched.4xx`, `unmatched.5xx`,
   * `unmatched.other`.
   */
  readonly rule: string;
  /** False if nothing matched and only the reply code decided. */
  readonly matched: boolean;
  /** `low`: nothing matched, or only weak evidence did. */
  readonly confidence: 'high' | 'low';
  /** Seconds until asking again makes sense, 1 to 86,400; only from 4xx and greylisting replies that announce it. */
  readonly retryAfter: number | null;
}

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
}

export interface Classifier {
  /** Classifies a reply. Pure, never throws, bounded in time. */
  classify(input: ReplyToRead): Reading;
  /** The same, with the reasons. */
  explain(input: ReplyToRead): Explanation;
  /** Whether a rule that decided (`Reading.rule`) is about our IP address. */
  isAboutOurIp(rule: string): boolean;
  /** The text without addresses, names, numbers and ids: what uncertain replies are counted and kept by. */
  template(input: Pick<ReplyToRead, 'reply' | 'echoes'>): Template;
}

/** What replies are read with. */
interface ClassifierData {
  readonly lexicon: LexiconFile;
  readonly codes: CodesFile;
}

/** The package's data. Throws if a file is missing or invalid. */
export const loadClassifierData = (): ClassifierData => ({ lexicon: loadLexicon(), codes: loadCodes() });

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
    template: ({ reply, echoes }) =>
      templateOf(reply, plainWords(reader.plain(reply.text, echoes).marked), echoes, lexicon.has),
  };
}

interface Reader {
  readonly lexicon: Lexicon;
  readonly codes: Codes;
  readonly plain: (text: string, echoes: Echoes) => Plain;
}

const CLOSING = /closing (?:transmission|connection)/i;

/** What a reply was read from, and the rules that this leads to, the highest first. */
interface Evidence {
  readonly plain: Plain;
  readonly status: string | null;
  readonly ofStatus: RuleId | null;
  readonly clauses: readonly Clause[];
  readonly rules: readonly RuleId[];
  /** A row for the operator's own form decides before anything else. */
  readonly form: OperatorRow | null;
}

/** One line accepts and another refuses, or one refuses for good and another for now: a 4xx at the end is believed. */
const contradictsItself = ({ code, mixed = false }: ReadableReply): boolean => mixed && (code < 400 || code >= 500);

const isAccepted = ({ code, text }: Pick<Reply, 'code' | 'text'>): boolean =>
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
  return { evidence, reading: decide(evidence, input.reply.code, text) };
}

function decide({ form, rules, status }: Evidence, code: number, text: string): Reading {
  if (form !== null) return reading(form.rule, form.id, code, text);
  const rule = settle(rules);
  return rule === null ? unmatched(code, status, text) : reading(rule, rule, code, text);
}

function explain(input: ReplyToRead, reader: Reader): Explanation {
  const { code } = input.reply;
  if (isAccepted(input.reply) || contradictsItself(input.reply)) {
    return { reading: classify(input, reader), plain: '', clauses: [], enhanced: null, alternatives: [] };
  }
  const { evidence, reading: decided } = consider(input, reader);
  const others = new Set(evidence.rules.filter((rule) => rule !== decided.rule));
  return {
    reading: decided,
    plain: plainWords(evidence.plain.marked),
    clauses: evidence.clauses.map((clause) => ({ clause, rule: ruleOfClause(clause) })),
    enhanced: evidence.status === null ? null : { code: evidence.status, rule: evidence.ofStatus },
    alternatives: [...others].map((rule) => ({ rule, finding: findingFor(rule, code) })),
  };
}

function gather(input: ReplyToRead, text: string, { plain: plainOf, lexicon, codes }: Reader): Evidence {
  const { code, enhanced } = input.reply;
  const early = BEFORE_RCPT[input.stage];
  const plain = plainOf(text, input.echoes);
  // qmail and others put the enhanced code into the text only; it counts if its class matches the code's.
  const ofText = plain.enhanced !== null && plain.enhanced[0] === String(code)[0] ? plain.enhanced : null;
  const status = enhanced ?? ofText;
  if (code < 400) return { plain, status, ofStatus: null, clauses: [], rules: [], form: null };
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
    clauses,
    rules,
    form: form !== null && early && aboutRecipient(form.rule) ? null : form,
  };
}

const ruleOfClause = ({ subject, predicate, general }: Clause): RuleId | null => {
  const rule = DECISIONS[predicate][subject];
  return general && rule === 'us.ip' ? 'us.client-rejected' : rule;
};

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
