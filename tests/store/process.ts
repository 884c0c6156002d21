/**
 * A process of its own on a store, for tests of several and of kill -9. Usage: process.ts URL JOB [HASH COUNT].
 * Prints `ready`, waits for a line, does its job and prints one JSON text per line; `serve` does one for each line.
 */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { systemClock } from '../../src/kernel/clock.ts';
import { DEFAULT_PLANS, plansOf, termsOf } from '../../src/kernel/facts/plans.ts';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import { asking, hold, newVerificationId, verdict, verifyNow } from './cast.ts';

const [url = '', job = '', hash = '', count = '0'] = process.argv.slice(2);
const say = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`);

/** COUNT requests at once; says each outcome. */
async function verify(store: Store): Promise<void> {
  const asked = Array.from({ length: Number(count) }, () => verifyNow(store, { hash }));
  for (const answer of await Promise.all(asked)) say(answer.outcome === 'refused' ? answer.code : answer.outcome);
}

/** Charges in every way until it is killed; says each record once it is acknowledged. */
async function churn(store: Store): Promise<void> {
  const one = async (turn: number): Promise<void> => {
    if (turn % 3 === 0) {
      const answer = await verifyNow(store, { hash });
      if (answer.outcome === 'settled') say(answer.record.id);
      return;
    }
    const { id, caller } = await hold(store, { hash }, { level: turn % 2 ? 'smtp' : 'mx' });
    const record = turn % 5 === 0 ? null : verdict(id, { requested: 'smtp' });
    await store.charging.settle({ caller, holdId: id, record, idempotency: null });
    if (record !== null) say(id);
  };
  const forever = async (start: number) => {
    for (let turn = start; ; turn += 7) await one(turn);
  };
  await Promise.all(Array.from({ length: 32 }, (_, i) => forever(i)));
}

/** Each line asks for that many requests; says their outcomes, and whether the store says that it is ready. */
async function serve(store: Store): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) {
    const asked = Array.from({ length: Number(line) }, () => verifyNow(store, { hash }, { body: 'x'.repeat(10_000) }));
    const answers = await Promise.allSettled(asked);
    const outcomes = answers.map((answer) =>
      answer.status === 'fulfilled' ? answer.value.outcome : answer.reason.code,
    );
    const ready = await store.ping().then(
      () => true,
      () => false,
    );
    say({ outcomes, ready });
  }
}

/** After COUNT requests, is stopped by a signal while it judges one, until it is continued; says the outcome. */
async function freeze(store: Store): Promise<void> {
  for (let i = 0; i < Number(count); i += 1) await verifyNow(store, { hash });
  const id = newVerificationId();
  let stopped = false;
  const decide = () => {
    if (!stopped) process.kill(process.pid, 'SIGSTOP');
    stopped = true;
    return verdict(id);
  };
  say((await store.charging.admit(asking({ hash }, { id, decide }))).outcome);
}

/**
 * Charges an account from just before a time on, which COUNT says, until it is killed; says the first charges after it.
 */
async function month(): Promise<void> {
  const shift = Number(count) - 30 - Date.now();
  const clock = { ...systemClock, now: () => Date.now() + shift };
  const huge = { ...termsOf(DEFAULT_PLANS, 'premium'), name: 'huge', monthlyCredits: 1_000_000_000 };
  const own = await openStore({ url, clock, time: 'process', plans: plansOf([huge]) });
  const forever = async (): Promise<void> => {
    for (;;) {
      const answer = await verifyNow(own, { hash });
      if (answer.outcome === 'settled' && clock.now() > Number(count) + 5) say(answer.record.id);
    }
  };
  await Promise.all(Array.from({ length: 8 }, forever));
}

/** Holds SQLite's write lock for a while. */
async function lock(): Promise<void> {
  const db = new DatabaseSync(url.slice('sqlite:'.length));
  db.exec('BEGIN IMMEDIATE');
  say('locked');
  await new Promise((resolve) => setTimeout(resolve, 300));
  db.exec('COMMIT');
  db.close();
}

// A write beyond the limit of file sizes, which stands in for a full disk, is an error and not the end.
process.on('SIGXFSZ', () => undefined);

const store = await openStore({ url, clock: systemClock });
process.stdout.write('ready\n');
if (job === 'serve') await serve(store);
else await once(process.stdin, 'data');
if (job === 'migrate') say(await store.migrate());
if (job === 'verify') await verify(store);
if (job === 'lock') await lock();
if (job === 'freeze') await freeze(store);
if (job === 'churn') await churn(store);
if (job === 'month') await month();
await store.close();
process.stdin.destroy();
