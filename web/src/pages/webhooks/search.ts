import { DELIVERY_STATUSES, type DeliveryStatus } from '../../../../src/kernel/facts/events.ts';
import { DELIVERIES_PAGE } from '../../../../src/kernel/facts/limits.ts';
import { oneOf, pageSearch } from '../../parts/search-params.ts';

/** Search parameters of a webhook's page. */
export interface WebhookSearch {
  readonly page?: number;
  /** Of deliveries. */
  readonly status?: DeliveryStatus;
}

export function webhookSearch({ page, status }: Record<string, unknown>): WebhookSearch {
  const known = oneOf(DELIVERY_STATUSES, status);
  return { ...pageSearch(page, DELIVERIES_PAGE.max), ...(known === undefined ? {} : { status: known }) };
}
