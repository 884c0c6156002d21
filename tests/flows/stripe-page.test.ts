/** The sample of docs/recipes/stripe.md, between a real service and as much of Stripe as it calls. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../../scripts/fresh.mjs';
import { createOperatorKey } from '../../src/service/operator-keys.ts';
import { samplesOf } from '../lab/samples.ts';
import { type Lab, startLab } from '../lab/service.ts';

const SECRET = 'whsec_of_the_shop';
const BY = { kind: 'command', id: null, name: 'test', ip: null } as const;

let lab: Lab;
let stripe: Server;
let asked: { authorization: string | undefined; body: URLSearchParams }[];
let dir: string;
let environment: Record<string, string>;
const shops: ChildProcess[] = [];

beforeAll(async () => {
  lab = await startLab();
  asked = [];
  stripe = createServer((request, reply) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = new URLSearchParams(Buffer.concat(chunks).toString());
      asked.push({ authorization: request.headers.authorization, body });
      reply.writeHead(200, { 'content-type': 'application/json' });
      reply.end(JSON.stringify({ id: 'cs_1', url: 'https://checkout.stripe.com/c/pay/cs_1' }));
    });
  });
  await new Promise<void>((resolve) => stripe.listen(0, '127.0.0.1', resolve));
  dir = mkdtempSync(join(tmpdir(), 'mailvet-shop-'));
  const [sample] = samplesOf('docs/recipes/stripe.md');
  const client = JSON.stringify(join(ROOT, 'sdk/src/index.ts'));
  writeFileSync(join(dir, 'shop.mjs'), (sample?.code ?? '').replace("'@mailvet/client'", client));
  const { value } = await createOperatorKey(
    lab.store,
    { name: 'shop', allowIps: ['127.0.0.1'], scopes: ['credits'], expiresAt: Date.now() + 3_600_000 },
    BY,
  );
  environment = {
    PATH: process.env.PATH ?? '',
    NODE_NO_WARNINGS: '1',
    MAILVET_URL: lab.url,
    MAILVET_OPERATOR_KEY: value,
    STRIPE_KEY: 'sk_test',
    STRIPE_WEBHOOK_SECRET: SECRET,
    SHOP_URL: 'https://shop.example',
    STRIPE_API: `http://127.0.0.1:${(stripe.address() as AddressInfo).port}`,
  };
});
afterEach(() => {
  for (const shop of shops.splice(0)) shop.kill('SIGKILL');
});
afterAll(async () => {
  stripe.close();
  rmSync(dir, { recursive: true, force: true });
  await lab.close();
});

async function openShop(): Promise<{ url: string; child: ChildProcess }> {
  const child = spawn(process.execPath, [join(dir, 'shop.mjs')], { env: { ...environment, PORT: '0' } });
  shops.push(child);
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const port = /port (\d+)/.exec(String(line))?.[1];
  return { url: `http://127.0.0.1:${port}`, child };
}

const paid = (account: string, payment: string, change: object = {}) =>
  JSON.stringify({
    type: 'checkout.session.completed',
    data: {
      object: {
        client_reference_id: account,
        payment_intent: payment,
        payment_status: 'paid',
        metadata: { credits: '5000' },
        ...change,
      },
    },
  });

/** As Stripe delivers it (docs.stripe.com/webhooks, "Verify manually"). */
const deliver = (url: string, body: string, { at = Date.now(), secret = SECRET } = {}): Promise<number> => {
  const time = Math.floor(at / 1000);
  const signature = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex');
  const headers = { 'stripe-signature': `t=${time},v1=${signature},v0=00` };
  return fetch(`${url}/stripe`, { method: 'POST', headers, body }).then(({ status }) => status);
};

const balanceOf = async (id: string) => (await lab.store.accounts.get(id))?.balance;

describe('the shop', () => {
  it('sends the customer to the checkout, with the account and the credits', async () => {
    const { url } = await openShop();
    const bought = await fetch(`${url}/buy?account=acc_1&price=price_small`, { redirect: 'manual' });
    expect([bought.status, bought.headers.get('location')]).toEqual([303, 'https://checkout.stripe.com/c/pay/cs_1']);
    const { authorization, body } = asked.at(-1)!;
    expect(authorization).toBe('Bearer sk_test');
    expect(Object.fromEntries(body)).toMatchObject({ client_reference_id: 'acc_1', 'metadata[credits]': '5000' });
    for (const query of ['account=acc_1&price=price_free', 'price=price_small', 'account=acc_1&price=toString'])
      expect((await fetch(`${url}/buy?${query}`)).status).toBe(404);
  });

  it('grants what was paid, once for each payment', async () => {
    const { url } = await openShop();
    const { account } = await lab.member({ credits: 0 });
    const payment = `pi_${randomUUID()}`;
    const body = paid(account.id, payment);
    expect(await Promise.all(Array.from({ length: 10 }, () => deliver(url, body)))).toEqual(Array(10).fill(200));
    expect(await balanceOf(account.id)).toBe(5000);
    const { rows } = await lab.store.accounts.ledger(account.id, 10);
    expect(rows.map(({ note }) => note)).toEqual([`Stripe ${payment}`]);
  });

  it('grants nothing for what is not signed, too old, or not paid yet', async () => {
    const { url } = await openShop();
    const { account } = await lab.member({ credits: 0 });
    const body = paid(account.id, 'pi_forged');
    expect(await deliver(url, body, { secret: 'whsec_wrong' })).toBe(400);
    expect(await deliver(url, body, { at: Date.now() - 600_000 })).toBe(400);
    expect((await fetch(`${url}/stripe`, { method: 'POST', body })).status).toBe(400);
    expect(await deliver(url, paid(account.id, 'pi_later', { payment_status: 'unpaid' }))).toBe(200);
    expect(await balanceOf(account.id)).toBe(0);
  });

  it('grants each payment once, although it is killed between payment and grant', async () => {
    const { account } = await lab.member({ credits: 0 });
    const payments = Array.from({ length: 24 }, () => `pi_${randomUUID()}`);
    const left = new Set(payments);
    for (let round = 0; left.size > 0; round += 1) {
      expect(round).toBeLessThan(60);
      const { url, child } = await openShop();
      const sent = [...left].map(async (payment) => {
        const status = await deliver(url, paid(account.id, payment)).catch(() => null);
        // Of some that are answered, the answer is lost: Stripe delivers those again as well.
        if (status === 200 && (round > 2 || payment.charCodeAt(3) % 2 === 0)) left.delete(payment);
      });
      const killed = round < 3 ? Promise.race(sent).then(() => child.kill('SIGKILL')) : null;
      await Promise.all([...sent, killed]);
    }
    expect(await balanceOf(account.id)).toBe(24 * 5000);
    const { rows } = await lab.store.accounts.ledger(account.id, 100);
    expect(rows.map(({ note }) => note).sort()).toEqual(payments.map((payment) => `Stripe ${payment}`).sort());
    expect(await lab.store.accounts.audit()).toEqual([]);
  });

  it('answers 500 where the service is not there, so that the event comes again', async () => {
    environment.MAILVET_URL = 'http://127.0.0.1:9';
    try {
      const { url } = await openShop();
      expect(await deliver(url, paid('acc_1', 'pi_1'))).toBe(500);
    } finally {
      environment.MAILVET_URL = lab.url;
    }
  });
});
