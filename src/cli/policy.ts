/** Policies for commands that verify by themselves. */
import { BUILT_IN_POLICIES, builtInPolicy, type Policy } from '../kernel/facts/policies.ts';
import { choice } from '../kernel/format.ts';
import { optionsFrom, UsageError } from './command.ts';
import { withServer } from './server-error.ts';

/** Why there is no such policy without a service. */
export const onlyBuiltIn = (name: string): string =>
  `there is no policy ${JSON.stringify(name)} without a service, only ${choice(BUILT_IN_POLICIES.map((one) => one.name))}: set MAILVET_URL and MAILVET_KEY for those of an account.`;

/** A built-in policy, or the one of the account on the server. Throws UsageError, CommandFailure. */
export async function policyNamed(name: string, flags: object): Promise<Policy> {
  const builtIn = builtInPolicy(name);
  if (builtIn !== null) return builtIn;
  if (optionsFrom(flags, 'verify').key === null) throw new UsageError(`--policy: ${onlyBuiltIn(name)}`);
  return withServer(flags, 'verify', async ({ policies }) => {
    const {
      signals,
      validation_type: level,
      timeout_ms: timeoutMs,
      on_outage: onOutage,
      messages,
    } = await policies.get(name);
    return { name, signals, level, timeoutMs, onOutage, messages };
  });
}
