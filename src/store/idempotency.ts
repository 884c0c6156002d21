import { REPLY_LIFE } from './charge/idempotency.ts';
import type { Engine } from './engine.ts';
import type { Idempotency } from './store.ts';
import { storable } from './text.ts';

export function idempotency(engine: Engine): Idempotency {
  const { db } = engine;
  return {
    async finish(caller, { route, key, fingerprint }, { status, headers, body }) {
      const now = await engine.now();
      const node = engine.node.current ?? '';
      const reply = { state: 'done' as const, status, headers: JSON.stringify(headers), body: storable(body) };
      const life = { created_at: now, expires_at: now + REPLY_LIFE };
      await db
        .insertInto('idempotency')
        .values({ account_id: caller.accountId, route, key, fingerprint, node, ...reply, ...life })
        .onConflict((oc) =>
          oc
            .columns(['account_id', 'route', 'key'])
            .doUpdateSet({ ...reply, ...life })
            // Only our own reservation; somebody else may have taken the key after it was released.
            .where('idempotency.state', '=', 'running')
            .where('idempotency.node', '=', node)
            .where('idempotency.fingerprint', '=', fingerprint),
        )
        .execute();
    },

    async forget(caller, { route, key, fingerprint }) {
      await db
        .deleteFrom('idempotency')
        .where('account_id', '=', caller.accountId)
        .where('route', '=', route)
        .where('key', '=', key)
        .where('fingerprint', '=', fingerprint)
        .where('state', '=', 'running')
        .where('node', '=', engine.node.current ?? '')
        .execute();
    },
  };
}
