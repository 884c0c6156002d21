import { expect, it, vi } from 'vitest';
import { openPool } from '../../src/store/postgres/connect.ts';
import { PostgresNode } from '../../src/store/postgres/node.ts';
import { describeStores, ENGINE } from '../lab/stores.ts';

const WITHIN_MS = 5_000;

describeStores('nodes', (lab) => {
  it('are listed with their program and when they last said that they run, the newest first', async () => {
    const [one, other] = [await lab.open(), await lab.open()];
    expect(one.nodes.current).toBe(null);
    expect(await one.nodes.list(10, WITHIN_MS)).toEqual([]);
    await one.nodes.report('1.2.3');
    const began = lab.clock.now();
    lab.clock.advance(10_000);
    await other.nodes.report('1.3.0');
    await one.nodes.report('1.2.3');
    const seenAt = lab.clock.now();
    const label = expect.stringMatching(/\/\d+$/);
    expect(await one.nodes.list(10, WITHIN_MS)).toEqual([
      { id: other.nodes.current, label, version: '1.3.0', startedAt: seenAt, seenAt },
      { id: one.nodes.current, label, version: '1.2.3', startedAt: began, seenAt },
    ]);
    expect(await one.nodes.list(1, WITHIN_MS)).toMatchObject([{ version: '1.3.0' }]);
  });

  it('are gone once a dead one is swept', async () => {
    const [one, other] = [await lab.open(), await lab.open()];
    await other.nodes.report('1.2.3');
    await one.nodes.report('1.2.3');
    await other.close();
    await one.upkeep.releaseDead();
    expect((await one.nodes.list(10, WITHIN_MS)).map(({ id }) => id)).toEqual([one.nodes.current]);
  });

  it.skipIf(ENGINE !== 'postgres')('that are closed while they begin leave no lock behind', async () => {
    await lab.open();
    const pool = openPool(lab.url, 1);
    const now = async () => {
      await node.close();
      return 0;
    };
    const node = new PostgresNode({ url: lab.url, pool, label: 'host/1', newId: () => 'node_closed', now });
    await expect(node.acquire()).rejects.toThrow('node_closed');
    await vi.waitFor(async () =>
      expect(await node.ifDead('node_closed', () => Promise.resolve('swept'))).toBe('swept'),
    );
    await pool.end();
  });
});
