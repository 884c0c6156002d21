/** What a bounce says of its recipient: the words of mail servers in reports and logs, read as replies are. */
import { MAIL_DIAGNOSTIC_LENGTH } from '../../kernel/facts/limits.ts';
import type { MailOutcome, OutcomeClass } from '../../kernel/facts/sent-mail.ts';
import type { SmtpStage } from '../evidence.ts';
import type { RuleFinding } from './classify/rules.ts';
import type { Classifier, RuleReading } from './classify.ts';
import { parseReply } from './explain.ts';
import type { SmtpReply } from './reply.ts';

/** Where in the dialogue a mail was refused; `data`: after its recipients. */
type BounceStage = Extract<SmtpStage, 'connect' | 'ehlo' | 'starttls' | 'mail' | 'rcpt'> | 'data';

interface Diagnostic {
  /** The words alone are read as those of a 550. */
  readonly reply: SmtpReply;
  /** Whether there was a code, of whatever kind. */
  readonly hasCode: boolean;
  /** Null: it does not say. */
  readonly stage: BounceStage | null;
  /** Who said it; null: it does not say. */
  readonly host: string | null;
}

export interface OutcomeReading {
  readonly class: OutcomeClass;
  /** Null where nothing was read: no bounce, or no diagnostic. */
  readonly diagnostic: Diagnostic | null;
  readonly reading: RuleReading | null;
}

interface SaidOutcome {
  readonly outcome: MailOutcome;
  readonly diagnostic: string | null;
  /** The mail had this recipient, which servers echo. */
  readonly address: string;
}

/** What a reading of a bounce stands for. Temporary findings are those of a mail that was given up. */
const CLASS_OF_FINDING: Readonly<Record<RuleFinding, OutcomeClass>> = {
  accepted: 'unclear',
  mailbox_not_found: 'absent',
  mailbox_full: 'full',
  mailbox_full_temporarily: 'full',
  mailbox_disabled: 'disabled',
  relay_denied: 'domain',
  greylisted: 'sender',
  smtp_temporary_failure: 'unclear',
  smtp_timeout: 'unclear',
  smtp_unreachable: 'unclear',
  smtp_blocked: 'sender',
  smtp_unverifiable: 'unclear',
  reconnect: 'sender',
  starttls_required: 'sender',
};

const STAGES: readonly (readonly [BounceStage, RegExp])[] = [
  ['data', /^(?:end of data|data|bdat|body|message)\b/i],
  ['rcpt', /^rcpt\b/i],
  ['mail', /^(?:mail|auth)\b/i],
  ['starttls', /^starttls\b/i],
  ['ehlo', /^[ehl]+lo\b/i],
  ['connect', /^(?:initial|connect|greeting|banner)/i],
];
/** Postfix: "(in reply to end of DATA command)"; Exim: "after pipelined RCPT TO:<…>"; Sendmail: ">>> RCPT To:<…>". */
const STAGE_WORDS =
  /(?:\bin (?:reply|response) to(?: the)?|\bafter|>>>) +(?:pipelined |sending )*([a-z][a-z ]{2,24})/gi;
/** What Postfix adds to the words of the other server. */
const COMMAND_NOTE = /\s*\(in (?:reply|response) to [^)]{1,60}\)\s*$/i;
const NAMED_HOST = /\bhost ([a-z\d](?:[a-z\d-]*\.)+[a-z\d-]+)\.?(?=[\s[(:])/i;

const ENHANCED_CODE = String.raw`[45]\.\d{1,3}\.\d{1,3}(?![\d.])`;
/** The code of a reply; with an enhanced code behind it, or where a reply would begin. */
const REPLY = new RegExp(
  String.raw`(?<![\w.:/-])([45]\d\d)[- ]#?(?=${ENHANCED_CODE})|(?:^|[:;"'<>]|said)\s*([45]\d\d)(?=[-\s:]|$)`,
  'i',
);
const ENHANCED_ALONE = new RegExp(String.raw`(?<![\w.:/-])${ENHANCED_CODE}`);

/** `550-5.1.1 one 550 5.1.1 two`: the lines of a reply that were joined. */
const diagnosticLines = (code: string, text: string): string =>
  text.replaceAll(new RegExp(String.raw`\s+(?=${code}[- ](?:${ENHANCED_CODE}|\S))`, 'g'), '\n');

/** Takes a diagnostic apart; null: it is empty. Bounded, never throws. */
export function parseDiagnostic(raw: string): Diagnostic | null {
  const text = raw
    .slice(0, MAIL_DIAGNOSTIC_LENGTH.max)
    .replaceAll(/[\s\0]+/g, ' ')
    .trim();
  const [, host = null] = NAMED_HOST.exec(text) ?? [];
  const found = REPLY.exec(text);
  const code = found?.[1] ?? found?.[2];
  const said = text.replace(COMMAND_NOTE, '');
  if (found !== null && code !== undefined) {
    const from = said.indexOf(code, found.index);
    const reply = from === -1 ? null : parseReply(diagnosticLines(code, said.slice(from).replace(/^(\d{3}):/, '$1 ')));
    if (reply !== null) return { reply, hasCode: true, stage: stageIn(text), host };
  }
  const enhanced = ENHANCED_ALONE.exec(said);
  const reply = said === '' ? null : parseReply(`${enhanced?.[0].startsWith('4') ? 450 : 550} ${said}`);
  return reply === null ? null : { reply, hasCode: enhanced !== null, stage: stageIn(text), host };
}

/** The last one that is named: Sendmail quotes the dialogue, in order. */
function stageIn(text: string): BounceStage | null {
  let stage: BounceStage | null = null;
  for (const [, words = ''] of text.matchAll(STAGE_WORDS))
    stage = STAGES.find(([, pattern]) => pattern.test(words))?.[0] ?? stage;
  return stage;
}

/**
 * What an outcome is evidence of. Of a bounce, only clear words about the recipient count against it: the model alone
 * decides nothing after DATA, and words without any code need a rule that is sure.
 * `operatorOf`: name of the provider of a mail host, or null.
 */
export function readOutcome(
  classifier: Classifier,
  { outcome, diagnostic: text, address }: SaidOutcome,
  operatorOf: (host: string) => string | null,
): OutcomeReading {
  if (outcome !== 'bounced') return { class: outcome, diagnostic: null, reading: null };
  const diagnostic = text === null ? null : parseDiagnostic(text);
  if (diagnostic === null) return { class: 'unclear', diagnostic: null, reading: null };
  const { reply, stage, host, hasCode } = diagnostic;
  const operator = host === null ? null : operatorOf(host.toLowerCase());
  const echoes = { address, ourNames: [], ourIps: [] };
  const at = stage === 'data' || stage === null ? 'rcpt' : stage;
  const reading = classifier.classify({ stage: at, reply, operator, echoes });
  const isGuess = (stage === 'data' && reading.readBy === 'model') || (!hasCode && !isSure(reading));
  return { class: isGuess ? 'unclear' : CLASS_OF_FINDING[reading.finding], diagnostic, reading };
}

const isSure = ({ readBy, confidence }: RuleReading): boolean => readBy !== 'model' && confidence === 'high';
