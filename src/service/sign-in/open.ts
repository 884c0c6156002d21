import type { Clock } from '../../kernel/clock.ts';
import { randomToken } from '../../kernel/ids.ts';
import type { Logger } from '../../kernel/log.ts';
import type { Store } from '../../store/store.ts';
import type { Library } from './library.ts';

export interface OpenParts {
  readonly store: Pick<Store, 'authDatabase' | 'secret'>;
  /** Null: the store's own. */
  readonly secret: string | null;
  /** Of the dashboard, without a slash at its end. */
  readonly url: () => string;
  readonly clock: Clock;
  readonly logger: Logger;
}

const SECRET_LENGTH = 48;

/** The sign-in library, loaded and set up at the first call; where that fails, the next call tries again. */
export function lazyLibrary({ store, secret, url, clock, logger }: OpenParts): () => Promise<Library> {
  let opened: Promise<Library> | null = null;
  async function open(): Promise<Library> {
    const [{ openLibrary }, kept] = await Promise.all([
      import('./library.ts'),
      secret ?? store.secret('auth', () => randomToken(SECRET_LENGTH)),
    ]);
    return openLibrary({ database: store.authDatabase, secret: kept, publicUrl: url(), clock, logger });
  }
  return () => {
    opened ??= open().catch((error: unknown) => {
      opened = null;
      throw error;
    });
    return opened;
  };
}
