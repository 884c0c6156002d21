import { isUntrusted } from '../dns/message.ts';
import { RESOLVER_PROBLEMS } from '../dns/resolver.ts';
import { askOf, type DoctorDeps, type Finding, fail, isFailure, pass, warn } from './deps.ts';

const SLOW_MS = 1_000;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const SERVERS = 'MAILVET_DNS_SERVERS';

/** Checks that the resolver answers, how fast, and that it returns NXDOMAIN for a name that does not exist. */
export async function checkResolver(deps: DoctorDeps): Promise<Finding> {
  const began = deps.clock.elapsed();
  const first = await askMadeUp(deps);
  // A single slow answer may be chance, or this process still starting.
  const again = first.tookMs > SLOW_MS && !isFailure(first.answer) ? await askMadeUp(deps) : first;
  const { name, answer } = first;
  const tookMs = Math.min(first.tookMs, again.tookMs);
  if (isFailure(answer)) {
    if (isUntrusted(answer.kind)) {
      const { found, fix } = RESOLVER_PROBLEMS[answer.kind];
      return fail('resolver', `${found.charAt(0).toUpperCase()}${found.slice(1)}.`, fix);
    }
    const alive = await deps.resolver.alive({ deadline: began + deps.checkMs * 0.94, since: began });
    const ended = `a query for a random name ended in "${answer.kind}"`;
    return alive
      ? warn('resolver', `The DNS resolver answers, but ${ended}.`, `Set ${SERVERS} to a resolver that resolves .com.`)
      : fail('resolver', `No DNS resolver answers: ${ended}.`, RESOLVER_PROBLEMS.silent.fix);
  }
  if (answer.kind !== 'nxdomain') {
    return fail(
      'resolver',
      `The DNS resolver does not return NXDOMAIN for a name that does not exist; it answered ${name}.`,
      `Set ${SERVERS} to a resolver that does, such as unbound on this host: with this one, dead domains look alive.`,
    );
  }
  if (tookMs > SLOW_MS) {
    return warn(
      'resolver',
      `The DNS resolver is slow: ${tookMs} ms for one name.`,
      `Set ${SERVERS} to a caching resolver nearby, such as unbound on this host.`,
    );
  }
  return pass(
    'resolver',
    `It answers in ${tookMs} ms for an uncached name, and returns NXDOMAIN for names that do not exist.`,
  );
}

async function askMadeUp(deps: DoctorDeps) {
  const name = `${Array.from({ length: 24 }, () => LETTERS[deps.random(26)]).join('')}.com`;
  const began = deps.clock.elapsed();
  const answer = await askOf(deps)(name, 'A');
  return { name, answer, tookMs: Math.round(deps.clock.elapsed() - began) };
}
