/**
 * Policies: what a verdict means for whoever asked. `decide` is the only place where a policy meets a verdict: single
 * calls, lists, hooks and the dashboard's "would have" all use it, and the dashboard's page in the browser too.
 */
import { POLICY_NAME_LENGTH, TIMEOUT_MS } from './limits.ts';
import { DEFAULT_LEVEL, type Level } from './plans.ts';
import type { Deliverability, Reason } from './reasons.ts';

/** They go from the mildest to the hardest. */
export const POLICY_ACTIONS = ['accept', 'review', 'reject'] as const;
export type PolicyAction = (typeof POLICY_ACTIONS)[number];

export const SIGNALS = [
  'disposable',
  'relay',
  'role',
  'free',
  'catch_all',
  'unknown',
  'full',
  'typo',
  'tag',
  'seen_before',
] as const;
export type Signal = (typeof SIGNALS)[number];

/** What a decision can be because of: a signal, or what no policy can change. */
export const DECISION_GROUNDS = ['undeliverable', ...SIGNALS, 'outage'] as const;
export type DecisionGround = (typeof DECISION_GROUNDS)[number];

/** What signals are read from: fields of a reply. Replies that earlier versions recorded lack some. */
export interface JudgedReply {
  readonly deliverability: Deliverability;
  readonly reason: Reason | null;
  readonly is_disposable: boolean;
  readonly did_you_mean: string | null;
  readonly tag?: string | null;
  readonly is_relay?: boolean | null;
  readonly is_role?: boolean | null;
  readonly is_free?: boolean | null;
  readonly is_catch_all?: boolean | null;
  readonly is_mailbox_full?: boolean | null;
  /** Null, or absent: nobody asked whether the mailbox was seen before. */
  readonly seen?: { readonly before: boolean } | null;
}

interface GroundRow {
  /** Begins a sentence of the dashboard: "Disposable addresses are rejected." */
  readonly subject: string;
  /** The person who entered the address is shown this, where the policy has no message of its own. */
  readonly message: string;
}
interface SignalRow extends GroundRow {
  /** How the signal is read from a reply; what is not known is no signal. */
  readonly isSet: (reply: JudgedReply) => boolean;
  /** Says the same in words, for the docs. */
  readonly readFrom: string;
}

export const SIGNAL_ROWS: Readonly<Record<Signal, SignalRow>> = {
  disposable: {
    subject: 'Disposable addresses',
    message: 'Use a permanent email address.',
    isSet: (reply) => reply.is_disposable,
    readFrom: '`is_disposable` is true',
  },
  relay: {
    subject: 'Addresses of privacy relays',
    message: 'Use an email address without a relay.',
    isSet: (reply) => reply.is_relay === true,
    readFrom: '`is_relay` is true',
  },
  role: {
    subject: 'Addresses of a function, such as info@',
    message: 'Use a personal email address.',
    isSet: (reply) => reply.is_role === true,
    readFrom: '`is_role` is true',
  },
  free: {
    subject: 'Addresses of free mail providers',
    message: 'Use the email address of your organization.',
    isSet: (reply) => reply.is_free === true,
    readFrom: '`is_free` is true',
  },
  catch_all: {
    subject: 'Addresses of catch-all domains',
    message: 'This email address could not be confirmed. Use another one.',
    isSet: (reply) => reply.is_catch_all === true,
    readFrom: '`is_catch_all` is true',
  },
  unknown: {
    subject: 'Addresses about which the check gave no answer',
    message: 'This email address could not be confirmed. Try again later, or use another one.',
    // Without a reason, the mailbox was not asked about: level mx says nothing of it.
    isSet: (reply) => reply.deliverability === 'unknown' && reply.reason !== null,
    readFrom: '`deliverability` is `unknown`, and `reason` says why; `mx` alone, which asks no mailbox, does not count',
  },
  full: {
    subject: 'Full mailboxes',
    message: 'This mailbox is full. Use another email address.',
    isSet: (reply) => reply.is_mailbox_full === true,
    readFrom: '`is_mailbox_full` is true',
  },
  typo: {
    subject: 'Likely typos',
    message: 'Did you mean {suggestion}?',
    isSet: (reply) => reply.did_you_mean !== null,
    readFrom: '`did_you_mean` has an address',
  },
  tag: {
    subject: 'Addresses with a +tag',
    message: 'Use your email address without the part after the +.',
    isSet: (reply) => typeof reply.tag === 'string',
    readFrom: '`tag` has a text',
  },
  seen_before: {
    subject: 'Mailboxes that were seen before',
    message: 'This email address is already in use.',
    isSet: (reply) => reply.seen?.before === true,
    readFrom: '`seen.before` is true; only requests with a `scope` know it',
  },
};

export const GROUND_ROWS: Readonly<Record<DecisionGround, GroundRow>> = {
  undeliverable: { subject: 'Undeliverable addresses', message: 'This email address cannot receive mail.' },
  ...SIGNAL_ROWS,
  outage: {
    subject: 'Addresses that could not be checked because the service had no answer',
    message: 'This email address could not be checked. Try again later.',
  },
};

/** `{"de": "…"}`; of several, the first one is for all languages that have none. */
export type LanguageTexts = Readonly<Record<string, string>>;

export interface PolicyRules {
  readonly signals: Readonly<Record<Signal, PolicyAction>>;
  /** Where the request does not say them itself. */
  readonly level: Level;
  readonly timeoutMs: number;
  /** Where there is no verdict. */
  readonly onOutage: PolicyAction;
  readonly messages: Readonly<Partial<Record<DecisionGround, LanguageTexts>>>;
}
export interface Policy extends PolicyRules {
  readonly name: string;
}

/** Stands in messages for the suggested address. */
export const SUGGESTION = '{suggestion}';
/** As a `scope`: in lower case, without white space. */
export const POLICY_NAME = new RegExp(`^[a-z0-9_.-]{${POLICY_NAME_LENGTH.min},${POLICY_NAME_LENGTH.max}}$`);

const ACCEPTS_ALL: PolicyRules['signals'] = {
  disposable: 'accept',
  relay: 'accept',
  role: 'accept',
  free: 'accept',
  catch_all: 'accept',
  unknown: 'accept',
  full: 'accept',
  typo: 'accept',
  tag: 'accept',
  seen_before: 'accept',
};

/** A policy that says nothing: only what is undeliverable is rejected. */
export const NO_RULES: PolicyRules = {
  signals: ACCEPTS_ALL,
  level: DEFAULT_LEVEL,
  timeoutMs: TIMEOUT_MS.default,
  onOutage: 'accept',
  messages: {},
};

/** Every account has these; they cannot be changed or deleted, only copied. */
export const BUILT_IN_POLICIES: readonly Policy[] = [
  {
    ...NO_RULES,
    name: 'signup',
    signals: { ...ACCEPTS_ALL, disposable: 'reject', typo: 'review', seen_before: 'reject' },
  },
  {
    ...NO_RULES,
    name: 'strict',
    signals: {
      disposable: 'reject',
      relay: 'review',
      role: 'reject',
      free: 'accept',
      catch_all: 'review',
      unknown: 'review',
      full: 'reject',
      typo: 'reject',
      tag: 'review',
      seen_before: 'reject',
    },
    onOutage: 'review',
  },
];
export const builtInPolicy = (name: string): Policy | null =>
  BUILT_IN_POLICIES.find((policy) => policy.name === name) ?? null;

/** What to do with an address. */
export interface Decision {
  readonly action: PolicyAction;
  /** What the policy answers with that action; empty for `accept`, where nothing asks for more. */
  readonly because: readonly DecisionGround[];
  /** The person who entered the address reads it; null for `accept`. */
  readonly message: string | null;
}

/**
 * What a policy says of a verdict. The hardest action of all signals that are set counts. `language`: a tag or the
 * value of an Accept-Language header; null: none is known.
 */
export function decide(policy: PolicyRules, reply: JudgedReply, language: string | null = null): Decision {
  const grounds: [DecisionGround, PolicyAction][] = [];
  if (reply.deliverability === 'undeliverable') grounds.push(['undeliverable', 'reject']);
  for (const signal of SIGNALS) if (SIGNAL_ROWS[signal].isSet(reply)) grounds.push([signal, policy.signals[signal]]);
  const action = hardestOf(grounds.map(([, each]) => each));
  return decisionOf(
    policy,
    action,
    grounds.flatMap(([ground, each]) => (each === action ? ground : [])),
    language,
    reply.did_you_mean,
  );
}

/** What a policy says where there is no verdict. */
export const decideOutage = (policy: PolicyRules, language: string | null = null): Decision =>
  decisionOf(policy, policy.onOutage, ['outage'], language, null);

const hardestOf = (actions: readonly PolicyAction[]): PolicyAction =>
  POLICY_ACTIONS.findLast((action) => actions.includes(action)) ?? 'accept';

function decisionOf(
  policy: PolicyRules,
  action: PolicyAction,
  grounds: readonly DecisionGround[],
  language: string | null,
  suggestion: string | null,
): Decision {
  const [ground] = grounds;
  // Of what is accepted, only an outage says why: nothing was checked.
  if (action === 'accept' || ground === undefined)
    return { action, because: ground === 'outage' ? grounds : [], message: null };
  const texts = policy.messages[ground] ?? {};
  const chosen = languageFor(Object.keys(texts), language);
  const text = (chosen === null ? undefined : texts[chosen]) ?? GROUND_ROWS[ground].message;
  return { action, because: grounds, message: text.replaceAll(SUGGESTION, () => suggestion ?? '') };
}

/**
 * Which of `available` a reader gets: by lookup (RFC 4647 §3.4), then one of the same language, then the first. Null:
 * there is none.
 */
export function languageFor(available: readonly string[], wanted: string | null): string | null {
  const find = (matches: (tag: string) => boolean) => available.find((tag) => matches(tag.toLowerCase()));
  for (const range of rangesIn(wanted ?? '')) {
    const subtags = range.split('-');
    for (let length = subtags.length; length > 0; length--) {
      const found = find((tag) => tag === subtags.slice(0, length).join('-'));
      if (found !== undefined) return found;
    }
    const related = find((tag) => tag.split('-')[0] === subtags[0]);
    if (related !== undefined) return related;
  }
  return available[0] ?? null;
}

/** Reads the ranges of an Accept-Language value (RFC 9110 §12.5.4), the most wanted first, in lower case. */
function rangesIn(text: string): string[] {
  const weighted = text.split(',').flatMap((part) => {
    const [range = '', ...parameters] = part.split(';').map((each) => each.trim().toLowerCase());
    const weight = Number(parameters.find((each) => each.startsWith('q='))?.slice(2) ?? 1);
    return /^[a-z]{1,8}(-[a-z0-9]{1,8})*$/.test(range) && weight > 0 ? [{ range, weight }] : [];
  });
  return weighted.sort((a, b) => b.weight - a.weight).map(({ range }) => range);
}
