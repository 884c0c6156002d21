/** Explains how one reply is read, for operators. */
import type { ReadBy, ReplyConfidence } from '../../kernel/facts/checks.ts';
import { SMTP_REPLY_LENGTH } from '../../kernel/facts/limits.ts';
import type { SmtpStage } from '../evidence.ts';
import { CLASSES, THRESHOLDS, type Weighed } from './classify/model.ts';
import type { Classifier, Explanation } from './classify.ts';
import { ReplyParser, type SmtpReply } from './reply.ts';

/** The command prints this explanation, and the dashboard shows it. */
export interface ReplyExplanation {
  readonly code: number;
  readonly enhanced_code: string | null;
  /** The text as it was read: without addresses, names and ids. */
  readonly read_as: string;
  readonly finding: string;
  readonly meaning: string;
  readonly rule: string;
  readonly confidence: ReplyConfidence;
  readonly decided_by: ReadBy;
  /** What the model makes of it, whether it was asked or not; null for what it is never asked about. */
  readonly model: {
    /** The probability that the mailbox cannot be reached, from 0 to 1. */
    readonly probability: number;
    /** From this probability on, it may call the mailbox dead where the rules do not; null: never for such a reply. */
    readonly decides_from: number | null;
    /** Below this one, it denies what a rule says. */
    readonly denies_below: number;
    readonly classes: readonly { readonly name: string; readonly share: number }[];
    readonly features_for: readonly Weighed[];
    readonly features_against: readonly Weighed[];
  } | null;
  /** The delay is in seconds. */
  readonly retry_after: number | null;
  readonly clauses: readonly {
    readonly subject: string;
    readonly predicate: string;
    readonly words: string;
    readonly rule: string | null;
  }[];
  readonly alternatives: readonly { readonly rule: string; readonly finding: string }[];
}

/**
 * Parses a reply as a server sends it or a log has it: one line or several, with `-` after the code of all but the last
 * or without. Null if it is none.
 */
export function parseReply(text: string): SmtpReply | null {
  const lines = text
    .slice(0, SMTP_REPLY_LENGTH.max)
    .split(/\r\n|[\r\n]/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const code = /^([2-5]\d\d)(?:[ -]|$)/.exec(lines[0] ?? '')?.[1];
  if (code === undefined) return null;
  const wire = lines.map((line, index) => {
    const rest = /^[2-5]\d\d(?:[ -]|$)/.test(line) ? line.slice(4) : line;
    return `${code}${index === lines.length - 1 ? ' ' : '-'}${rest}\r\n`;
  });
  const [reply] = new ReplyParser().push(Buffer.from(wire.join('')));
  return reply ?? null;
}

const FEATURES = 10;
const shareToThousandth = (share: number): number => Math.round(share * 1000) / 1000;
const roundedWeight = ({ feature, weight }: Weighed): Weighed => ({ feature, weight: shareToThousandth(weight) });

function modelExplanation({
  dead,
  classes,
  features,
  needed,
}: NonNullable<Explanation['model']>): NonNullable<ReplyExplanation['model']> {
  return {
    probability: dead,
    decides_from: needed,
    denies_below: THRESHOLDS.doubt,
    classes: CLASSES.map((name, at) => ({ name, share: shareToThousandth(classes[at] ?? 0) })).sort(
      (a, b) => b.share - a.share,
    ),
    features_for: features
      .filter(({ weight }) => weight > 0)
      .slice(0, FEATURES)
      .map(roundedWeight),
    features_against: features
      .filter(({ weight }) => weight < 0)
      .slice(0, FEATURES)
      .map(roundedWeight),
  };
}

/** `operator` is the name of the mail host's provider, or null. */
export function explainReply(
  classifier: Classifier,
  reply: SmtpReply,
  about: { readonly stage: SmtpStage; readonly operator: string | null; readonly address: string },
): ReplyExplanation {
  const echoes = { address: about.address, ourNames: [], ourIps: [] };
  const explanation: Explanation = classifier.explain({ stage: about.stage, reply, operator: about.operator, echoes });
  const { reading, clauses, enhanced, alternatives, plain } = explanation;
  return {
    code: reply.code,
    enhanced_code: enhanced?.code ?? null,
    read_as: plain,
    finding: reading.finding,
    meaning: reading.meaning,
    rule: reading.rule,
    confidence: reading.confidence,
    decided_by: reading.readBy,
    model: explanation.model && modelExplanation(explanation.model),
    retry_after: reading.retryAfterSeconds,
    clauses: clauses.map(({ clause: { subject, predicate, words }, rule }) => ({
      subject,
      predicate,
      words: words.map(({ text }) => text).join(' … '),
      rule,
    })),
    alternatives,
  };
}
