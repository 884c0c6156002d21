import type { SmtpFinding, SmtpStage } from '../evidence.ts';
import { announcedDelay } from './classify/delay.ts';
import { type Echoes, type Plain, takeOutEchoes } from './classify/echoes.ts';
import { fingerprintOf } from './classify/fingerprint.ts';
import { compileRules, loadRules, type Meaning, type Rule, type RuleFile, type RuleFinding } from './classify/rules.ts';
import type { Reply } from './reply.ts';

export type { Echoes, Meaning, RuleFile, RuleFinding };
export { loadRules };

export interface ReplyToRead {
  /** Where the reply was given. `probe` is read as `rcpt`. */
  readonly stage: SmtpStage;
  readonly reply: Pick<Reply, 'code' | 'enhanced' | 'text'>;
  /** Name from the provider table; null where the MX is nobody's that is known. */
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
  /** Seconds until asking again makes sense, 1 to 86,400; only from 4xx and greylisting replies that announce it. */
  readonly retryAfter: number | null;
}

export interface Classifier {
  /** Whose fault a reply is. Pure, never throws, bounded in time. */
  classify(input: ReplyToRead): Reading;
  /** Name under which an unmatched reply is counted; the same for replies that differ in echoes and ids only. */
  fingerprint(input: Pick<ReplyToRead, 'reply' | 'echoes'>): string;
  /** The reply's words as the rules see them: without addresses, names and ids, so that they can be shown. */
  plain(input: Pick<ReplyToRead, 'reply' | 'echoes'>): string;
}

const EARLY: ReadonlySet<SmtpStage> = new Set(['connect', 'banner', 'ehlo', 'starttls', 'mail', 'rset']);

/** Findings that say something bad of the mailbox, and what is left of them when the reply is a 4xx. */
const TEMPORARY: Readonly<Partial<Record<RuleFinding, SmtpFinding>>> = {
  mailbox_full: 'mailbox_full_temporarily',
  mailbox_not_found: 'smtp_temporary_failure',
  mailbox_disabled: 'smtp_temporary_failure',
  relay_denied: 'smtp_temporary_failure',
  smtp_unverifiable: 'smtp_temporary_failure',
};

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
      // An accepted recipient, the most frequent reply of all, is read by its code alone.
      return read(input, rules, () => (found ??= plainOf(input.reply.text, input.echoes)));
    },
    plain: ({ reply, echoes }) => plainOf(reply.text, echoes).text,
    fingerprint: ({ reply, echoes }) => fingerprintOf(reply.code, reply.enhanced, plainOf(reply.text, echoes).text),
  };
}

function read(input: ReplyToRead, rules: readonly Rule[], plain: () => Plain): Reading {
  const { code, text } = input.reply;
  const early = EARLY.has(input.stage);
  const codeText = String(code);
  // qmail and others write the enhanced code into the text only; it counts if its class is the code's.
  const inText = (): string => {
    const { enhanced } = plain();
    return enhanced !== null && enhanced[0] === codeText[0] ? enhanced : '';
  };
  for (const rule of rules) {
    // Step 1: before RCPT nobody's mailbox has been named.
    if (early ? rule.stage === 'rcpt' || aboutRecipient(rule.meaning) : rule.stage === 'early') continue;
    if (rule.operators !== null && (input.operator === null || !rule.operators.has(input.operator))) continue;
    if (!rule.code.test(codeText)) continue;
    if (rule.enhancedCode !== null && !rule.enhancedCode.test(input.reply.enhanced ?? inText())) continue;
    if (rule.words !== null && !rule.words.test(plain().text)) continue;
    if (rule.unless?.test(plain().text)) continue;
    return reading(rule.meaning, rule.finding, rule.id, code, text);
  }
  if (code >= 400 && code < 500) {
    return reading('remote_temporary', 'smtp_temporary_failure', 'unmatched.4xx', code, text);
  }
  return reading('unclear', 'smtp_unverifiable', code >= 500 ? 'unmatched.5xx' : 'unmatched.other', code, text);
}

function reading(meaning: Meaning, finding: RuleFinding, rule: string, code: number, text: string): Reading {
  const temporary = code >= 400 && code < 500;
  return {
    meaning,
    // Step 4: a 4xx never means bad, whatever its words are.
    finding: temporary ? (TEMPORARY[finding] ?? finding) : finding,
    rule,
    retryAfter: temporary || meaning === 'greylisted' ? announcedDelay(text) : null,
  };
}

const aboutRecipient = (meaning: Meaning): boolean => meaning === 'recipient' || meaning === 'recipient_domain';

/** Is a host one of these domains or below one? */
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
