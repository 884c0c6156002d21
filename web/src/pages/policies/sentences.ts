import { plural, t } from '@lingui/core/macro';
import { GROUND_ROWS, POLICY_ACTIONS, type PolicyAction, SIGNALS } from '../../../../src/kernel/facts/policies.ts';
import type { Policy } from '../../api/schema.ts';
import { factText } from '../../parts/fact-text.ts';
import { formatList, inSentence } from '../../parts/format.ts';

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
  accept: t`are accepted`,
  review: t`are accepted for now, to be reviewed`,
  reject: t`are rejected`,
};
/** After one address. */
const OUTAGES: Readonly<Record<PolicyAction, string>> = {
  accept: t`the address is accepted`,
  review: t`the address is accepted for now, to be reviewed`,
  reject: t`the address is rejected`,
};

const SCOPE = t`Whether a mailbox was seen before is known only of requests with a scope.`;

/** A policy in plain sentences; what is accepted goes without saying one by one. */
export function sentencesOf({ signals, validation_type, timeout_ms, on_outage }: Rules): string[] {
  const sentences = POLICY_ACTIONS.toReversed().flatMap((action) => {
    const subjects = SIGNALS.filter((signal) => signals[signal] === action).map((signal) =>
      factText(GROUND_ROWS[signal].subject),
    );
    if (action === 'accept' || subjects.length === 0) return [];
    const [first = '', ...rest] = subjects;
    return [`${formatList([first, ...rest.map(inSentence)])} ${VERBS[action]}.`];
  });
  const seconds = Number((timeout_ms / 1000).toFixed(1));
  return [
    t`Undeliverable addresses are rejected, as by every policy.`,
    ...sentences,
    t`Everything else is accepted.`,
    // Whoever relies on it would otherwise wait for it in vain.
    ...(signals.seen_before === 'accept' ? [] : [SCOPE]),
    t`Addresses are checked at level ${validation_type}, for at most ${plural(seconds, { one: '# second', other: '# seconds' })}, unless the request says otherwise.`,
    t`Where there is no verdict, because of an outage, an empty balance or a limit, ${OUTAGES[on_outage]}.`,
  ];
}
