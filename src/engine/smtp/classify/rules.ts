import { readFileSync } from 'node:fs';
import { dataFile } from '../../data.ts';
import type { SmtpFinding, SmtpStage } from '../../evidence.ts';
import { fold } from './echoes.ts';

/** Whose doing a reply is. `recipient*` speaks of what was asked, `us_*` of who asks, `remote_*` of their trouble. */
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
  /** The server did not like the form of the dialogue (RFC 5321 §4.2.2: 500 to 504, 555). */
  | 'protocol'
  | 'unclear';

/** Findings about the mailbox, and two wishes that the dialogue can fulfil: a new session, TLS. */
export type RuleFinding = SmtpFinding | 'reconnect' | 'starttls_required';

/** The order in which rules are asked: what names us before what names the recipient. */
export const STEPS = ['accepted', 'operator', 'sure', 'code', 'words', 'class', 'last'] as const;
export type Step = (typeof STEPS)[number];

/** A reply that a rule must be the one to decide: the form a server uses, not a transcript of one. */
export interface Sample {
  readonly code: number;
  readonly enhanced: string | null;
  readonly text: string;
  /** `rcpt` where it is left out. */
  readonly stage?: SmtpStage;
  readonly operator?: string;
}

/** One row of data/smtp-rules.json. All conditions that are given must hold. */
export interface RuleRow {
  readonly id: string;
  readonly step: Step;
  /** `early`: only before RCPT. `rcpt`: only at RCPT. Rows about the recipient hold at RCPT whatever is said here. */
  readonly stage?: 'early' | 'rcpt';
  /** Names of the provider table. */
  readonly operator?: readonly string[];
  /** Comma-separated codes or classes: `550,551`, `5xx`. Left out: 4xx and 5xx. */
  readonly codes?: string;
  /** Regular expression that the whole enhanced code matches; an empty alternative means "none was given". */
  readonly enhanced?: string;
  /** Regular expression over the plain text (echoes.ts); `<name>` stands for an entry of `terms`. */
  readonly pattern?: string;
  /** The row does not hold where this matches. */
  readonly not?: string;
  readonly meaning: Meaning;
  /** What a 5xx means. A 4xx is never bad: classify.ts turns it into its temporary counterpart. */
  readonly finding: RuleFinding;
  /** Replies that this row must decide; in the project's own words, except where `source` names a labelled reply. */
  readonly samples: readonly Sample[];
  /** Where the meaning is known from: a specification, whose words they are, labelled replies, or `project`. */
  readonly source: string;
  readonly why?: string;
}

export interface RuleFile {
  readonly version: number;
  /** Parts that patterns share. */
  readonly terms: Readonly<Record<string, string>>;
  /** Words of replies that stay in the text although they may be the local part asked about. */
  readonly keep: readonly string[];
  /** Domains of blocklists: naming one is saying something, as other host names and URLs are not. */
  readonly blocklists: readonly string[];
  readonly rows: readonly RuleRow[];
}

export interface Rule extends Pick<RuleRow, 'id' | 'step' | 'stage' | 'meaning' | 'finding'> {
  readonly operators: ReadonlySet<string> | null;
  readonly code: RegExp;
  readonly enhancedCode: RegExp | null;
  readonly words: RegExp | null;
  readonly unless: RegExp | null;
}

/** The package's rules. Throws if the file is missing or broken: that is our mistake, not a mail server's. */
export function loadRules(path: string = dataFile('smtp-rules.json')): RuleFile {
  return JSON.parse(readFileSync(path, 'utf8')) as RuleFile;
}

/** Compiles rows in their order. Throws on a row that is out of step, a double id, an unknown term or operator. */
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
  };
}

/** Folds letters as the texts are folded, and puts the terms in. Escapes such as `\S` and `\p{L}` keep their case. */
function expand(pattern: string, terms: RuleFile['terms'], id: string): string {
  const whole = pattern.replace(/(?<!\(\?)<([a-z]+)>/g, (_, name: string) => {
    const term = terms[name];
    if (term === undefined) throw new Error(`rule ${id}: no term <${name}>`);
    return `(?:${term})`;
  });
  return whole.replace(/[^\u0000-\u007f]+/g, fold);
}
