import type { Store } from '../store/store.ts';

/** Alerts the owners and admins of accounts whose balance fell below their threshold since the last run. */
export type LowBalanceAlerts = (signal?: AbortSignal) => Promise<void>;

export function createLowBalanceAlerts(parts: {
  store: Pick<Store, 'accounts'>;
  /** Public URL of the service, without a trailing slash. */
  url: () => string;
  /** Whether mail can be sent; webhooks are called in any case. */
  mail: boolean;
}): LowBalanceAlerts {
  const { store, url, mail } = parts;
  return async (signal) => {
    await store.accounts.claimLowBalanceAlerts(
      ({ name: account, balance, lowBalance }, to) =>
        lowBalance === null || !mail
          ? null
          : { template: 'low_balance', to, account, balance, threshold: lowBalance, link: `${url()}/` },
      signal,
    );
  };
}
