import { ApiError } from '../kernel/errors.ts';
import { EXPORTS_AT_ONCE, EXPORTS_PER_ACCOUNT } from '../kernel/limits.ts';
import { AccountSlots } from './account-slots.ts';
import type { AccountId } from './members.ts';

/** After which another export may be tried. */
const RETRY_SECONDS = 5;

/**
 * The pages of an export, bounded at once by account and process. The first read throws ApiError `rate_limit_exceeded`
 * where there are too many; whoever ends reading ends the export.
 */
export type LimitExport = <T>(
  account: AccountId | 'operators',
  pages: AsyncGenerator<T, void, undefined>,
) => AsyncGenerator<T, void, undefined>;

export function createExportLimit(): LimitExport {
  const slots = new AccountSlots<AccountId | 'operators'>(EXPORTS_PER_ACCOUNT, EXPORTS_AT_ONCE);

  return async function* limited(account, pages) {
    const slot = slots.take(account);
    if (typeof slot === 'string')
      throw new ApiError('rate_limit_exceeded', `${slot} has too many exports under way.`, {
        retry_after: RETRY_SECONDS,
      });
    try {
      yield* pages;
    } finally {
      slot();
    }
  };
}
