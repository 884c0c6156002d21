import { readFileSync } from 'node:fs';
import { dataFile } from '../../data.ts';
import type { SmtpFinding, SmtpStage } from '../../evidence.ts';
import { fold } from './echoes.ts';

/** What a reply is about: `recipient*` the checked address, `us_*` the client, `remote_*` a problem of the server. */
export type Meaning =
  | 'accepted'
  | 'recipient'
  | 'recipient_domain'
  | 'us_ip'
  | 'us_sender'
  | 'us_policy'
  | 'rate'
  | 'greylisted'
  | 'remote_temporary'
  | 'remote_permanent'
  | 'too_many_recipients'
  | 'tls_required'
  /** The server rejected the protocol usage (RFC 5321 §4.2.2: 500 to 504, 555). */
  | 'protocol'
  | 'unclear';

/** Findings about the mailbox, and two session actions: reconnect, STARTTLS. */
export type RuleFinding = SmtpFinding | 'reconnect' | 'starttls_required';

/** Order of evaluation: rules about the client before rules about the recipient. */
export const STEPS = ['accepted', 'operator', 'sure', 'code', 'words', 'class', 'last'] as const;
type Step = (typeof STEPS)[number];

/** A sample reply that this rule must decide: the form a server uses, not a transcript. */
interface Sample {
  readonly code: number;
  readonly enhanced: string | null;
  readonly text: string;
  /** Default: `rcpt`. */
  readonly stage?: SmtpStage;
  readonly operator?: string;
}

/** One row of data/smtp-rules.json. All given conditions must match. */
export interface RuleRow {
  readonly id: string;
  readonly step: Step;
  /** `early`: only before RCPT. `rcpt`: only at RCPT. Rows about the recipient apply only at RCPT in any case. */
  readonly stage?: 'early' | 'rcpt';
  /** Names of the provider table. */
  readonly operator?: readonly string[];
  /** Comma-separated codes or classes: `550,551`, `5xx`. Default: 4xx and 5xx. */
  readonly codes?: string;
  /** Regular expression that the whole enhanced code matches; an empty alternative means "none was given". */
  readonly enhanced?: string;
  /** Regular expression over the plain text (echoes.ts); `<name>` stands for an entry of `terms`. */
  readonly pattern?: string;
  /** The row does not apply if this matches. */
  readonly not?: string;
  readonly meaning: Meaning;
  /** What a 5xx means. A 4xx is never bad: classify.ts turns it into its temporary counterpart. */
  readonly finding: RuleFinding;
  /** Replies that this row must decide; written for the project, unless `source` names a labelled reply. */
  readonly samples: readonly Sample[];
  /** Source of the meaning: a specification, the server's documentation, labelled replies, or `project`. */
  readonly source: string;
  readonly why?: string;
}

export interface RuleFile {
  readonly version: number;
  /** Shared parts of patterns. */
  readonly terms: Readonly<Record<string, string>>;
  /** Words that stay in the text even if they equal the local part. */
  readonly keep: readonly string[];
  /** Domains of blocklists: significant in a reply, unlike other host names and URLs. */
  readonly blocklists: readonly string[];
  readonly rows: readonly RuleRow[];
}

export interface Rule extends Pick<RuleRow, 'id' | 'step' | 'stage' | 'meaning' | 'finding'> {
  readonly operators: ReadonlySet<string> | null;
  readonly code: RegExp;
  readonly enhancedCode: RegExp | null;
  readonly words: RegExp | null;
  readonly unless: RegExp | null;
  /** `unless` matches only texts with this word; null: not known. */
  readonly unlessWord: string | null;
}

/** The package's rules. Throws if the file is missing or invalid. */
export function loadRules(path: string = dataFile('smtp-rules.json')): RuleFile {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/** Compiles rows in their order. Throws on a row out of order, a duplicate id, an unknown term or operator. */
export function compileRules(file: RuleFile, operators?: ReadonlySet<string>): readonly Rule[] {
  const seen = new Set<string>();
  let step = 0;
  return file.rows.map((row) => {
    const at = STEPS.indexOf(row.step);
    if (at < step) throw new Error(`rule ${row.id}: step ${row.step} after ${STEPS[step]}`);
    if (seen.has(row.id)) throw new Error(`rule ${row.id} is there twice`);
    for (const name of row.operator ?? []) {
      if (operators !== undefined && !operators.has(name)) throw new Error(`rule ${row.id}: unknown operator ${name}`);
    }
    step = at;
    seen.add(row.id);
    return compile(row, file.terms);
  });
}

function compile(row: RuleRow, terms: RuleFile['terms']): Rule {
  const words = (pattern: string | undefined): RegExp | null =>
    pattern === undefined ? null : new RegExp(expand(pattern, terms, row.id), 'u');
  return {
    id: row.id,
    step: row.step,
    ...(row.stage === undefined ? {} : { stage: row.stage }),
    meaning: row.meaning,
    finding: row.finding,
    operators: row.operator === undefined ? null : new Set(row.operator),
    code: new RegExp(`^(?:${(row.codes ?? '4xx,5xx').replaceAll('xx', '\\d\\d').replaceAll(',', '|')})$`),
    enhancedCode: row.enhanced === undefined ? null : new RegExp(`^(?:${row.enhanced})$`),
    words: words(row.pattern),
    unless: words(row.not),
    unlessWord: firstWordOf(row.not ?? ''),
  };
}

/** Folds letters like the texts and expands terms. Escapes such as `\S` and `\p{L}` keep their case. */
function expand(pattern: string, terms: RuleFile['terms'], id: string): string {
  const whole = pattern.replace(/(?<!\(\?)<([a-z]+)>/g, (_, name: string) => {
    const term = terms[name];
    if (term === undefined) throw new Error(`rule ${id}: no term <${name}>`);
    return `(?:${term})`;
  });
  return whole.replace(/[^\u0000-\u007f]+/g, fold);
}

/** The word at the beginning of a pattern without alternatives outside of parentheses. */
function firstWordOf(pattern: string): string | null {
  const withoutGroups = pattern.replace(/\([^()]*\)/g, '');
  return /[|()]/.test(withoutGroups) ? null : (/^([a-z]{4,}) /.exec(pattern)?.[1] ?? null);
}
