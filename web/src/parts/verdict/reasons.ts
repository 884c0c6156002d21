import type { Verification } from '../../api/schema.ts';
import { counted, spoken } from '../words.ts';

/** A verdict for people: what was found, what that means, what to do. As docs/verdicts.md has it. */
export interface Worded {
  readonly title: string;
  readonly means: string;
  readonly advice: string;
}

const worded = (title: string, means: string, advice: string): Worded => ({ title, means, advice });

/** By reason; where status or level make a difference, `<reason> <status>` or `<reason> <level>` comes first. */
const VERDICTS: Readonly<Record<string, Worded>> = {
  'none mx': worded(
    'The domain takes mail',
    'Its mail servers can be found. Nobody asked about the mailbox.',
    'Accept it. Ask at the smtp level if it matters whether the mailbox exists.',
  ),
  'none smtp': worded('The mailbox exists', 'The server accepts this mailbox and refuses a random one.', 'Send.'),
  blocked_by_filter: worded(
    'One of your filters matches',
    'Nothing else was checked, and nothing was charged.',
    'Refuse it, as was decided when the filter was made.',
  ),
  invalid_format: worded(
    'Not an email address',
    'No public mail server could receive for this text.',
    'Show the person the mistake.',
  ),
  disposable_domain: worded(
    'A throw-away address',
    'The domain, or its mail servers, belong to a service for disposable addresses. It may well receive mail for ten minutes.',
    'Refuse it where you need a lasting address.',
  ),
  domain_not_found: worded('The domain does not exist', 'There is no such name in the DNS.', 'Refuse it.'),
  no_mx_records: worded(
    'The domain has no mail server',
    'It exists, and has neither MX nor address records.',
    'Refuse it.',
  ),
  null_mx: worded('The domain takes no mail', 'It says so itself, by a null MX record (RFC 7505).', 'Refuse it.'),
  mx_unusable: worded(
    'No mail server can be reached',
    'The MX records name an IP address, localhost, hosts without an address, or private addresses only.',
    'Refuse it.',
  ),
  dns_failure: worded(
    "The domain's name servers fail",
    'Other domains can be looked up; this one cannot at the moment.',
    'Ask again later. Do not delete the address for it.',
  ),
  catch_all: worded(
    'The server accepts any name',
    'So its yes says little about this mailbox.',
    'Send to people who signed up. Be careful with bought or guessed lists.',
  ),
  'mailbox_full good': worded(
    'The mailbox is full for now',
    'It exists, and takes nothing at the moment.',
    'Keep it, and try again in some days.',
  ),
  'mailbox_full bad': worded(
    'The mailbox is full',
    'The server refuses for good. Often nobody reads such a mailbox any more.',
    'Pause it, and check again before deleting it.',
  ),
  mailbox_not_found: worded('There is no such mailbox', 'The mail server says so.', 'Refuse it, or delete it.'),
  mailbox_disabled: worded('The mailbox is closed', 'It exists, and is disabled.', 'Delete it.'),
  relay_denied: worded(
    'The server does not take mail for this domain',
    "The domain's MX record points to the wrong server.",
    'Refuse it.',
  ),
  greylisted: worded(
    'The server asks strangers to come back later',
    'Whether the mailbox exists is not known yet.',
    'Ask again later.',
  ),
  smtp_temporary_failure: worded(
    'The mail server is in trouble',
    'It put the question off, or broke off.',
    'Ask again later.',
  ),
  smtp_timeout: worded(
    'The mail server did not answer in time',
    'Whether the mailbox exists is not known.',
    'Ask again later, with more time (timeout_ms in the API).',
  ),
  smtp_unreachable: worded(
    'No mail server could be connected to',
    'Whether the mailbox exists is not known.',
    'Ask again later. If it is so with every domain, port 25 of this service is closed.',
  ),
  smtp_blocked: worded(
    'The mail server refuses this service',
    'It objects to who asks: address, sender or reputation. Nothing is wrong with the mailbox for all we know.',
    'Treat it as an answer of the mx level.',
  ),
  smtp_unverifiable: worded(
    'The question cannot be answered this way',
    'The operator never tells, the address needs what the server has not, or this service is not set up to ask.',
    'Treat it as an answer of the mx level.',
  ),
};

/** All reasons that a verdict can have, for choosing one. */
export const REASONS: readonly string[] = [...new Set(Object.keys(VERDICTS).map((name) => name.split(' ')[0]!))];

type Judged = Pick<Verification, 'reason' | 'status' | 'validation_type'>;

/** A reason that this page does not know yet is shown by its name. */
export function wordsOf({ reason, status, validation_type }: Judged): Worded {
  const name = reason ?? 'none';
  const found = VERDICTS[`${name} ${status}`] ?? VERDICTS[`${name} ${validation_type}`] ?? VERDICTS[name];
  return found ?? worded(sentence(spoken(name)), 'The page of verdicts in the documentation explains it.', '');
}

/** The verdict in one line: `Good: the mailbox exists`. */
export function headline(judged: Judged): string {
  const { title } = wordsOf(judged);
  return `${judged.status === 'bad' ? 'Bad' : 'Good'}: ${title.charAt(0).toLowerCase()}${title.slice(1)}`;
}

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** `none` → `No reason`, `null_mx` → `Null mx`. */
export const reasonName = (reason: string | null): string =>
  reason === null || reason === 'none' ? 'No reason' : sentence(spoken(reason));

/** `in 5 minutes`, for `retry_after`. */
export function retryWords(seconds: number): string {
  if (seconds < 90) return `in ${counted(seconds, 'second')}`;
  if (seconds < 5400) return `in ${counted(Math.ceil(seconds / 60), 'minute')}`;
  return `in ${counted(Math.ceil(seconds / 3600), 'hour')}`;
}
