/** The file of MAILVET_SMTP_EGRESS_FILE while the service runs: read again when asked to. */
import { smtpIdentityOf } from '../config/egress.ts';
import type { Options } from '../config/read.ts';
import type { VerificationEngine } from '../engine/create.ts';
import type { Egress } from '../kernel/egress.ts';
import type { Logger } from '../kernel/log.ts';

interface EgressReloadParts {
  readonly options: Options;
  readonly logger: Logger;
  readonly engine: Pick<VerificationEngine, 'reloadEgresses'>;
  /** Names of the mail operators that the data knows. */
  readonly providers: () => ReadonlySet<string>;
}

export class EgressFile {
  readonly #parts: EgressReloadParts;
  #egresses: readonly Egress[];
  #problem: string | null = null;

  constructor(parts: EgressReloadParts, egresses: readonly Egress[]) {
    this.#parts = parts;
    this.#egresses = egresses;
  }

  get egresses(): readonly Egress[] {
    return this.#egresses;
  }

  /** Why the file, as it was read last, is not in use; null: it is. Without passwords. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Never rejects: a file with mistakes changes nothing. */
  async reload(): Promise<void> {
    const { options, logger, engine, providers } = this.#parts;
    if (options.smtpEgressFile === null) return;
    try {
      const next = (await smtpIdentityOf(options, providers))?.egresses ?? [];
      engine.reloadEgresses(next);
      this.#egresses = next;
      this.#problem = null;
      logger.info({ egresses: next.map(({ name }) => name) }, 'read the egress file again');
    } catch (error) {
      this.#problem = error instanceof Error ? error.message : String(error);
      logger.error({ problems: this.#problem.split('\n') }, 'the egresses stay as they were: the file has mistakes');
    }
  }
}
