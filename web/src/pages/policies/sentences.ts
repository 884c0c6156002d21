import { GROUND_ROWS, POLICY_ACTIONS, type PolicyAction, SIGNALS } from '../../../../src/kernel/facts/policies.ts';
import type { Policy } from '../../api/schema.ts';
import { pluralize } from '../../parts/format.ts';

/** What can be edited of a policy, as the API has it. */
export type Rules = Pick<Policy, 'signals' | 'validation_type' | 'timeout_ms' | 'on_outage' | 'messages'>;

export const rulesOf = ({ signals, validation_type, timeout_ms, on_outage, messages }: Rules): Rules => ({
  signals,
  validation_type,
  timeout_ms,
  on_outage,
  messages,
});

/** After a subject in the plural. */
const VERBS: Readonly<Record<PolicyAction, string>> = {
  accept: 'are accepted',
  review: 'are accepted for now, to be reviewed',
  reject: 'are rejected',
};
/** After one address. */
const OUTAGES: Readonly<Record<PolicyAction, string>> = {
  accept: 'the address is accepted',
  review: 'the address is accepted for now, to be reviewed',
  reject: 'the address is rejected',
};

const SCOPE = 'Whether a mailbox was seen before is known only of requests with a scope.';

const english = new Intl.ListFormat('en', { type: 'conjunction' });
const lowerFirst = (text: string): string => text.slice(0, 1).toLowerCase() + text.slice(1);

/** A policy in plain sentences; what is accepted goes without saying one by one. */
export function sentencesOf({ signals, validation_type, timeout_ms, on_outage }: Rules): string[] {
  const sentences = POLICY_ACTIONS.toReversed().flatMap((action) => {
    const subjects = SIGNALS.filter((signal) => signals[signal] === action).map(
      (signal) => GROUND_ROWS[signal].subject,
    );
    if (action === 'accept' || subjects.length === 0) return [];
    const [first = '', ...rest] = subjects;
    return [`${english.format([first, ...rest.map(lowerFirst)])} ${VERBS[action]}.`];
  });
  const seconds = Number((timeout_ms / 1000).toFixed(1));
  return [
    'Undeliverable addresses are rejected, as by every policy.',
    ...sentences,
    'Everything else is accepted.',
    // Whoever relies on it would otherwise wait for it in vain.
    ...(signals.seen_before === 'accept' ? [] : [SCOPE]),
    `Addresses are checked at level ${validation_type}, for at most ${pluralize(seconds, 'second')}, unless the request says otherwise.`,
    `Where there is no verdict, because of an outage, an empty balance or a limit, ${OUTAGES[on_outage]}.`,
  ];
}
