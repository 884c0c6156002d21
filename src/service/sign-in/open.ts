import type { Clock } from '../../kernel/clock.ts';
import { randomToken } from '../../kernel/ids.ts';
import type { Logger } from '../../kernel/log.ts';
import type { Store } from '../../store/store.ts';
import type { Library } from './library.ts';

interface OpenParts {
  readonly store: Pick<Store, 'authDatabase' | 'secret' | 'forgetSecret'>;
  /** Null: use the store's own secret. */
  readonly secret: string | null;
  /** The public URL of the dashboard has no trailing slash. */
  readonly url: () => string;
  readonly clock: Clock;
  readonly logger: Logger;
}

const SECRET_LENGTH = 48;
/** The store knows it by this name. */
const SECRET_NAME = 'auth';

/** Loads and configures the sign-in library at the first call; after a failure, the next call retries. */
export function lazyLibrary({ store, secret, url, clock, logger }: OpenParts): () => Promise<Library> {
  let opened: Promise<Library> | null = null;
  async function signingSecret(): Promise<string> {
    if (secret === null) return store.secret(SECRET_NAME, () => randomToken(SECRET_LENGTH));
    // Given by the operator, perhaps copied from the store: there it would be in every backup.
    await store.forgetSecret(SECRET_NAME, secret);
    return secret;
  }

  async function open(): Promise<Library> {
    const [{ openLibrary }, kept] = await Promise.all([import('./library.ts'), signingSecret()]);
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
