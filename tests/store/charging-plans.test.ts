/** How PostgreSQL runs the statements of charging. */
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { describeStores, ENGINE } from '../lab/stores.ts';
import { hold, member, verdict, verifyNow } from './cast.ts';

/** The server explains every statement to its client, as it has run it. */
const EXPLAINED = [
  'session_preload_libraries=auto_explain',
  'auto_explain.log_min_duration=0',
  'auto_explain.log_analyze=on',
  'auto_explain.log_timing=off',
  'client_min_messages=log',
];

/** Passes everything on, and keeps what the server says. */
async function listener(target: string) {
  const { hostname, port } = new URL(target);
  const said: Buffer[] = [];
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    upstream.on('data', (data) => said.push(data));
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const)
      from
        .on('error', () => to.destroy())
        .on('close', () => to.destroy())
        .pipe(to);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(target);
  url.port = String((server.address() as AddressInfo).port);
  url.searchParams.set('options', EXPLAINED.map((setting) => `-c ${setting}`).join(' '));
  return {
    url: url.href,
    said: () =>
      Buffer.concat(said)
        .toString('latin1')
        .split(/(?=Query Text:)|\0/),
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

describeStores('a charge', (lab) => {
  // Compiling takes hundreds of times longer than the statement, while the account is locked.
  it.skipIf(ENGINE !== 'postgres')('runs no statement that the server compiles first', async () => {
    const between = await listener(lab.url);
    const store = await lab.open({ url: between.url });
    const who = await member(store);
    // Under a lock, and then by what the node remembers.
    for (let i = 0; i < 3; i += 1) await verifyNow(store, who);
    await store.filters.add(who.account.id, { filterType: 'domain', value: 'example.com', reason: null });
    const idempotency = { route: 'verify', key: 'once', fingerprint: 'a' };
    const held = await hold(store, who, { idempotency, decide: () => null });
    await store.charging.settle({ caller: held.caller, record: verdict(held.id), holdId: held.id, idempotency });
    await store.close();
    await between.close();
    const explained = between.said().filter((text) => text.startsWith('Query Text:'));
    for (const run of [/FOR NO KEY UPDATE/, /WITH charged AS/, /JOIN filters/, /FROM idempotency/, /DELETE FROM holds/])
      expect(explained).toContainEqual(expect.stringMatching(run));
    expect(explained.filter((text) => text.includes('JIT:'))).toEqual([]);
  });
});
