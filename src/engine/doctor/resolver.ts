import { askOf, type Finding, fail, isFailure, pass, type World, warn } from './world.ts';

const SLOW_MS = 1_000;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const SERVERS = 'MAILVET_DNS_SERVERS';

/** Does the resolver answer, in what time, and does it say of a name that nobody has that it does not exist? */
export async function checkResolver(world: World): Promise<Finding> {
  const began = world.clock.elapsed();
  const first = await askMadeUp(world);
  // Once may be chance, or this process busy with its start.
  const again = first.tookMs > SLOW_MS && !isFailure(first.answer) ? await askMadeUp(world) : first;
  const { name, answer } = first;
  const tookMs = Math.min(first.tookMs, again.tookMs);
  if (isFailure(answer)) {
    const alive = await world.resolver.alive({ deadline: began + world.checkMs * 0.94, since: began });
    const ended = `a question for a made-up name ended in "${answer.kind}"`;
    return alive
      ? warn('resolver', `The DNS resolver answers, but ${ended}.`, `Use a resolver that resolves .com, in ${SERVERS}.`)
      : fail(
          'resolver',
          `No DNS resolver answers: ${ended}.`,
          `Start a resolver on this host (such as unbound), or name one that answers in ${SERVERS}.`,
        );
  }
  if (answer.kind !== 'nxdomain') {
    return fail(
      'resolver',
      `The DNS resolver does not say that a made-up name does not exist; it answered ${name}.`,
      `Use one that tells the truth, such as unbound on this host, in ${SERVERS}: with this one dead domains look alive.`,
    );
  }
  if (tookMs > SLOW_MS) {
    return warn(
      'resolver',
      `The DNS resolver is slow: ${tookMs} ms for one name.`,
      `Use a caching resolver nearby, such as unbound on this host, in ${SERVERS}.`,
    );
  }
  return pass(
    'resolver',
    `It answers, in ${tookMs} ms for a name not asked before, and says which names do not exist.`,
  );
}

async function askMadeUp(world: World) {
  const name = `${Array.from({ length: 24 }, () => LETTERS[world.random(26)]).join('')}.com`;
  const began = world.clock.elapsed();
  const answer = await askOf(world)(name, 'A');
  return { name, answer, tookMs: Math.round(world.clock.elapsed() - began) };
}
