import type { Store } from '../store/store.ts';

/** Alerts the owners and admins of accounts whose balance fell below their threshold since the last run. */
export type LowBalanceAlerts = (signal?: AbortSignal) => Promise<void>;

export function createLowBalanceAlerts(parts: {
  store: Pick<Store, 'accounts'>;
  /** Public URL of the service, without a trailing slash. */
  url: () => string;
}): LowBalanceAlerts {
  const { store, url } = parts;
  return async (signal) => {
    await store.accounts.claimLowBalanceAlerts(
      ({ name: account, balance, lowBalance }, to) =>
        lowBalance === null
          ? null
          : { template: 'low_balance', to, account, balance, threshold: lowBalance, link: `${url()}/` },
      signal,
    );
  };
}
