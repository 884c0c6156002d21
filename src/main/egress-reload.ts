/** The file of MAILVET_SMTP_EGRESS_FILE while the service runs: read again when asked to. */
import { smtpIdentityOf } from '../config/egress.ts';
import type { Options } from '../config/read.ts';
import type { VerificationEngine } from '../engine/create.ts';
import type { Egress } from '../kernel/egress.ts';
import type { Logger } from '../kernel/log.ts';

export interface ReloadedEgresses {
  /** Those in use. */
  readonly egresses: readonly Egress[];
  /** Why the file, as it was read last, is not in use; null: it is. Without passwords. */
  readonly problem: string | null;
  /** Never rejects: a file with mistakes changes nothing. */
  reload(): Promise<void>;
}

interface Parts {
  readonly options: Options;
  readonly logger: Logger;
  readonly engine: Pick<VerificationEngine, 'reloadEgresses'>;
  /** Names of the mail operators that the data knows. */
  readonly providers: () => ReadonlySet<string>;
  /** As the service started. */
  readonly egresses: readonly Egress[];
}

export function reloadEgresses({ options, logger, engine, providers, egresses }: Parts): ReloadedEgresses {
  let current = egresses;
  let problem: string | null = null;
  return {
    get egresses() {
      return current;
    },
    get problem() {
      return problem;
    },
    async reload() {
      if (options.smtpEgressFile === null) {
        logger.info('nothing to read again: MAILVET_SMTP_EGRESS_FILE is not set');
        return;
      }
      try {
        const next = (await smtpIdentityOf(options, providers))?.egresses ?? [];
        engine.reloadEgresses(next);
        [current, problem] = [next, null];
        logger.info({ egresses: next.map(({ name }) => name) }, 'read the egress file again');
      } catch (error) {
        problem = error instanceof Error ? error.message : String(error);
        logger.error({ problems: problem.split('\n') }, 'the egresses stay as they were: the file has mistakes');
      }
    },
  };
}
