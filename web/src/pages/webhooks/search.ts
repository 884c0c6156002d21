import { DELIVERIES_PAGE } from '../../../../src/kernel/facts/limits.ts';
import { pageSearch } from '../../parts/search-params.ts';

/** Search parameters of a webhook's page. */
interface WebhookSearch {
  readonly page?: number;
}

export const webhookSearch = ({ page }: Record<string, unknown>): WebhookSearch =>
  pageSearch(page, DELIVERIES_PAGE.max);
