/** Charging rules, the same for every driver: requests in order of arrival → answers and changes. */
import { admit } from './admit.ts';
import { settle } from './settle.ts';
import { type Answer, type Changes, type ChargeRequest, type ChargeState, noChanges } from './state.ts';

/**
 * Pure except for the accounts of `state`, which change in memory. An error thrown for one request is its answer alone.
 * `isHeld`: requests whose account could not be locked.
 */
export function applyBatch(
  state: ChargeState,
  requests: readonly ChargeRequest[],
  isHeld: (request: ChargeRequest) => boolean = () => false,
): { answers: Answer[]; changes: Changes } {
  const changes = noChanges();
  const answers = requests.map((request): Answer => {
    if (isHeld(request)) return { held: true };
    if (!request.enter()) return { dropped: true };
    try {
      const value =
        request.kind === 'admit' ? admit(state, changes, request.admit) : settle(state, changes, request.settle);
      return { value };
    } catch (error) {
      return { error };
    }
  });
  return { answers, changes };
}
