import type { Nodes } from './api/nodes.ts';
import type { StorageDriver } from './driver.ts';

export const nodes = (driver: StorageDriver): Nodes => ({
  async report(version) {
    const id = await driver.acquireNode();
    const seen = { version, seen_at: await driver.now() };
    await driver.db.updateTable('nodes').set(seen).where('id', '=', id).execute();
  },

  list(limit, withinMs) {
    return driver.read(withinMs, async (db) => {
      const rows = await db.selectFrom('nodes').selectAll().orderBy('started_at', 'desc').limit(limit).execute();
      return rows.map(({ id, label, version, started_at, seen_at }) => ({
        ...{ id, label, version, startedAt: started_at, seenAt: seen_at },
      }));
    });
  },

  get current() {
    return driver.node.current;
  },
});
