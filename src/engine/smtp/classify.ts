import type { SmtpStage } from '../evidence.ts';
import { SMTP_FINDINGS } from '../findings.ts';
import { announcedDelay } from './classify/delay.ts';
import { type Echoes, fold, type Plain, takeOutEchoes } from './classify/echoes.ts';
import { fingerprintOf } from './classify/fingerprint.ts';
import { compileRules, loadRules, type Meaning, type Rule, type RuleFile, type RuleFinding } from './classify/rules.ts';
import type { Reply } from './reply.ts';

export { loadRules };

interface ReplyToRead {
  /** Where the reply was given. `probe` is read as `rcpt`. */
  readonly stage: SmtpStage;
  readonly reply: Pick<Reply, 'code' | 'enhanced' | 'text'>;
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
  /** Id of the row that decided, or `unmatched.4xx`, `unmatched.5xx`, `unmatched.other`. */
  readonly rule: string;
  /** False if no row matched and only the code decided. */
  readonly matched: boolean;
  /** Seconds until asking again makes sense, 1 to 86,400; only from 4xx and greylisting replies that announce it. */
  readonly retryAfter: number | null;
}

export interface Classifier {
  /** Classifies a reply. Pure, never throws, bounded in time. */
  classify(input: ReplyToRead): Reading;
  /** Key under which an unmatched reply is counted; equal for replies that differ only in echoes and ids. */
  fingerprint(input: Pick<ReplyToRead, 'reply' | 'echoes'>): string;
  /** The text as the rules see it: without addresses, names and ids, so safe to log. */
  plain(input: Pick<ReplyToRead, 'reply' | 'echoes'>): string;
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

/** The finding for a 4xx reply; the two session actions stay as they are. */
const on4xx = (finding: RuleFinding): RuleFinding =>
  finding === 'reconnect' || finding === 'starttls_required' ? finding : SMTP_FINDINGS[finding].on4xx;

/**
 * `file`: the rules, by default the package's. `operators`: the names of the provider table; if given, a rule for an
 * operator that is not among them throws here, at the start.
 */
export function createClassifier(file: RuleFile = loadRules(), operators?: ReadonlySet<string>): Classifier {
  const rules = compileRules(file, operators);
  const keep = new Set(file.keep);
  const isBlocklist = suffixes(file.blocklists);
  const plainOf = (text: string, echoes: Echoes): Plain => takeOutEchoes(text, echoes, isBlocklist, keep);
  return {
    classify(input) {
      let found: Plain | null = null;
      // An accepted recipient, the most frequent reply, is decided by its code alone.
      return read(input, rules, () => (found ??= plainOf(input.reply.text, input.echoes)));
    },
    plain: ({ reply, echoes }) => plainOf(reply.text, echoes).text,
    fingerprint: ({ reply, echoes }) => fingerprintOf(reply.code, reply.enhanced, plainOf(reply.text, echoes).text),
  };
}

function read(input: ReplyToRead, rules: readonly Rule[], plain: () => Plain): Reading {
  const { code, text } = input.reply;
  const early = BEFORE_RCPT[input.stage];
  const codeText = String(code);
  // qmail and others put the enhanced code into the text only; it counts if its class matches the code's.
  const inText = (): string => {
    const { enhanced } = plain();
    return enhanced !== null && enhanced[0] === codeText[0] ? enhanced : '';
  };
  for (const rule of rules) {
    // Step 1: before RCPT no mailbox has been named.
    if (early ? rule.stage === 'rcpt' || aboutRecipient(rule.meaning) : rule.stage === 'early') continue;
    if (rule.operators !== null && (input.operator === null || !rule.operators.has(input.operator))) continue;
    if (!rule.code.test(codeText)) continue;
    if (rule.enhancedCode !== null && !rule.enhancedCode.test(input.reply.enhanced ?? inText())) continue;
    if (rule.words !== null && !rule.words.test(plain().text)) continue;
    if (mayMatch(rule.unlessWord, text) && rule.unless?.test(plain().text)) continue;
    return reading(rule, true, code, text);
  }
  if (code >= 400 && code < 500) {
    return reading(UNMATCHED_4XX, false, code, text);
  }
  return reading(code >= 500 ? UNMATCHED_5XX : UNMATCHED_OTHER, false, code, text);
}

/** Spares most accepted recipients, the most frequent reply, the search for echoes. */
const mayMatch = (word: string | null, text: string): boolean => word === null || fold(text).includes(word);

type Decision = Pick<Rule, 'id' | 'meaning' | 'finding'>;
const UNMATCHED_4XX: Decision = {
  id: 'unmatched.4xx',
  meaning: 'remote_temporary',
  finding: 'smtp_temporary_failure',
};
const UNMATCHED_5XX: Decision = { id: 'unmatched.5xx', meaning: 'unclear', finding: 'smtp_unverifiable' };
const UNMATCHED_OTHER: Decision = { id: 'unmatched.other', meaning: 'unclear', finding: 'smtp_unverifiable' };

function reading({ id, meaning, finding }: Decision, matched: boolean, code: number, text: string): Reading {
  const temporary = code >= 400 && code < 500;
  return {
    meaning,
    // Step 4: a 4xx never means bad, whatever its text.
    finding: temporary ? on4xx(finding) : finding,
    rule: id,
    matched,
    retryAfter: temporary || meaning === 'greylisted' ? announcedDelay(text) : null,
  };
}

const aboutRecipient = (meaning: Meaning): boolean => meaning === 'recipient' || meaning === 'recipient_domain';

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
