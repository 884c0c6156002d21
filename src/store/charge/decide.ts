/** The charge's one judgement, the same on every engine: requests in order of arrival → answers and changes. */
import { admit } from './admit.ts';
import { settle } from './settle.ts';
import { type Answer, type Changes, type ChargeRequest, type ChargeState, noChanges } from './state.ts';

/** Pure but for the accounts of `state`, which are changed in memory. What one request throws is its own answer. */
export function judge(state: ChargeState, requests: readonly ChargeRequest[]): { answers: Answer[]; changes: Changes } {
  const changes = noChanges();
  const answers = requests.map((request): Answer => {
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
