/** How PostgreSQL runs a search of the log. */
import { expect, it } from 'vitest';
import { MINUTE_MS } from '../../src/kernel/clock.ts';
import { describeStores, ENGINE } from '../lab/stores.ts';
import { member, verifyNow } from './cast.ts';
import { listener } from './explained.ts';

const ROWS = 20_000;

describeStores('a time far back in a large log', (lab) => {
  it.skipIf(ENGINE !== 'postgres')('is found in few round trips, and without reading what is older', async () => {
    const between = await listener(lab.url);
    const store = await lab.open({ url: between.url });
    const who = await member(store);
    await verifyNow(store, who);
    const columns = `account_id, key_id, email, requested, validation_type, status, deliverability, credits, client_ip,
      duration_ms, body, held`;
    const began = lab.clock.now() - ROWS * MINUTE_MS;
    await lab.sql(`INSERT INTO verifications (id, created_at, ${columns})
      SELECT 'ver_' || lpad(n::text, 22, '0'), ${began} + n::bigint * ${MINUTE_MS}, ${columns}
      FROM verifications, generate_series(1, ${ROWS}) n`);
    await lab.sql('VACUUM ANALYZE verifications');
    const before = between.said().length;
    const [from, to] = [began + (ROWS - 500) * MINUTE_MS, began + (ROWS - 440) * MINUTE_MS];
    const wanted = { email: null, id: null, reason: null, keyId: null, status: null, before: null, limit: 100 };
    const { items } = await store.verifications.search(who.account.id, { ...wanted, from, to });
    await store.close();
    await between.close();
    expect(items).toHaveLength(60);
    const statements = between
      .said()
      .slice(before)
      .filter((text) => text.startsWith('Query Text:') && text.includes('verifications'));
    expect(statements.length).toBeGreaterThan(0);
    expect(statements.length).toBeLessThan(6);
    const pages = (text: string) => Number(/Buffers: shared hit=(\d+)/.exec(text)?.[1] ?? Number.NaN);
    const [edge] = statements.filter((text) => /offset/i.test(text)).map(pages);
    // The index has about 150 pages of this account.
    expect(edge).toBeLessThan(50);
  });
});
