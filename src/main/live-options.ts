import { OPTIONS, type OptionKey, optionsOf } from '../config/options.ts';
import type { Options } from '../config/read.ts';
import type { Logger } from '../kernel/log.ts';

/** Whoever uses one of these asks for it each time. */
type Reloaded = Pick<Options, 'logLevel' | 'mailUrl' | 'metricsToken' | 'oidcClientSecret'>;

/** The options that SIGHUP changes while the service runs. All others are as they were at the start. */
export class LiveOptions {
  readonly #started: Options;
  readonly #logger: Logger;
  #current: Reloaded;

  constructor(options: Options, logger: Logger) {
    this.#started = options;
    this.#logger = logger;
    this.#current = options;
  }

  get current(): Reloaded {
    return this.#current;
  }

  /** Takes what can change, and logs the names of what did, and of what waits for the next start. */
  reload(next: Options): void {
    const before = { ...this.#started, ...this.#current };
    // What was off at the start has no parts that could use it.
    const take = <K extends keyof Reloaded>(key: K): Options[K] =>
      (before[key] === null) === (next[key] === null) ? next[key] : before[key];
    this.#current = {
      logLevel: take('logLevel'),
      mailUrl: take('mailUrl'),
      metricsToken: take('metricsToken'),
      oidcClientSecret: take('oidcClientSecret'),
    } satisfies Reloaded;
    this.#logger.level = this.#current.logLevel;
    const after = { ...before, ...this.#current };
    const taken = differing(before, after);
    const waiting = differing(after, next);
    this.#logger.info({ changed: taken }, 'read the options again');
    if (waiting.length > 0)
      this.#logger.warn({ options: waiting }, 'these options have changed, and take effect at the next start');
  }
}

/** Returns the names of the options whose values differ. */
function differing(one: Options, other: Options): string[] {
  const differs = (key: OptionKey): boolean => JSON.stringify(one[key]) !== JSON.stringify(other[key]);
  return optionsOf('serve').flatMap(([key]) => (differs(key) ? OPTIONS[key].env : []));
}
