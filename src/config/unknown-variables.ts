import { nearest } from '../kernel/nearest.ts';
import { optionsOf } from './options.ts';
import type { Environment } from './read.ts';

const PREFIX = 'MAILVET_';
/**
 * Set in pods by Kubernetes if there is a Service whose name begins with "mailvet"; and those of this project's tests.
 */
const OF_OTHERS = /_(SERVICE_(HOST|PORT)(_.+)?|PORT(_\d+_(TCP|UDP|SCTP).*)?)$|^MAILVET_TEST_/;

/** One sentence for each variable that is named like an option and is none; it has no effect. Values are not shown. */
export function unknownVariables(env: Environment): string[] {
  const known = optionsOf('*').flatMap(([, { env: name, secret }]) => (secret ? [name, `${name}_FILE`] : [name]));
  const unknown = Object.keys(env).filter(
    (name) => name.startsWith(PREFIX) && !known.includes(name) && !OF_OTHERS.test(name),
  );
  // All names share the prefix, so it must not make them look alike.
  const rests = known.map((name) => name.slice(PREFIX.length));
  return unknown.map((name) => {
    const close = nearest(name.slice(PREFIX.length), rests);
    return `${name} is not an option${close === null ? '' : `; did you mean ${PREFIX}${close}?`}`;
  });
}
