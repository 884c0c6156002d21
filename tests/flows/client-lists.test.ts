import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as after } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMailvet, type ListRow, MailvetError } from '../../sdk/src/index.ts';
import { type Lab, type Member, startLab } from '../lab/service.ts';

let lab: Lab;
let owner: Member;
beforeAll(async () => {
  // No work is done on lists, so that they stay as the test has them.
  lab = await startLab({ MAILVET_ROLE: 'api' });
  owner = await lab.member({ credits: 10_000, rateLimit: 100_000 });
});
afterAll(() => lab.close());

const clientOf = (member: Member) => createMailvet({ url: lab.url, key: member.key });
const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => null,
    (error: unknown) => (error instanceof MailvetError ? error.code : error),
  );
const FILE = 'Name,Contact Email\nAda,ada@good.com\nBob,bob@good.com\nAda,ada@good.com\n,\n';

describe('lists of the client', () => {
  it('are created from an array, a file and streams', async () => {
    const { lists } = clientOf(owner);
    const ready = { start: false, validation_type: 'smtp' } as const;
    const counted = { total: 4, addresses: 2, duplicates: 1 };
    const array = await lists.create(['ada@good.com', 'bob@good.com', 'ada@good.com', ''], { ...ready, name: 'array' });
    expect(array).toMatchObject({ name: 'array', status: 'ready', rows: counted, credits: { price: 20, held: 0 } });
    const file = await lists.create(new File([FILE], 'people.csv', { type: 'text/csv' }), ready);
    expect(file).toMatchObject({ name: 'people.csv', status: 'ready', validation_type: 'smtp', rows: counted });
    const excel = await lists.create(new File([FILE], 'excel.csv', { type: 'application/vnd.ms-excel' }), ready);
    expect(excel).toMatchObject({ name: 'excel.csv', rows: counted });
    const blob = await lists.create(new Blob(['ada@good.com\nbob@good.com\n']), { ...ready, type: 'text/plain' });
    expect(blob.rows).toMatchObject({ total: 2, addresses: 2 });
    async function* pieces() {
      for (const piece of [FILE.slice(0, 30), FILE.slice(30)]) yield new TextEncoder().encode(piece);
    }
    const sources = [Readable.from([Buffer.from(FILE)]), Readable.toWeb(Readable.from([Buffer.from(FILE)])), pieces()];
    for (const source of sources)
      expect(
        (await lists.create(source as AsyncIterable<Uint8Array>, { ...ready, column: 'Contact Email' })).rows,
      ).toMatchObject(counted);
    const { lists: page } = await lists.list({ query: 'people', status: 'ready' });
    expect(page.map(({ id }) => id)).toEqual([file.id]);
  });

  it('are the same again with the same idempotency key, from whatever source', async () => {
    const { lists } = clientOf(owner);
    const sources = {
      array: () => ['ada@good.com'],
      file: () => new File([FILE], 'people.csv'),
      stream: () => Readable.from([Buffer.from(FILE)]) as AsyncIterable<Uint8Array>,
    };
    for (const [idempotencyKey, source] of Object.entries(sources)) {
      const options = { idempotencyKey, start: false, name: 'once' };
      const first = await lists.create(source(), options);
      expect([idempotencyKey, (await lists.create(source(), options)).id]).toEqual([idempotencyKey, first.id]);
      expect((await lists.create(source(), { ...options, idempotencyKey: `${idempotencyKey}-2` })).id).not.toBe(
        first.id,
      );
      expect(await codeOf(lists.create(['bob@good.com'], options))).toBe('idempotency_key_reused');
    }
  });

  it('are read in another way, and compared by mailbox, until they start', async () => {
    const { lists } = clientOf(owner);
    const file = 'Name,Work,Home\nAda,a.da@gmail.com,ada@home.com\nAda,ada+x@gmail.com,bob@home.com\n';
    const list = await lists.create(new Blob([file]), { start: false, columns: 'Work', dedupe: 'mailbox' });
    expect([list.dedupe, list.rows.addresses, list.credits.price]).toEqual(['mailbox', 1, 1]);
    const home = await lists.update(list, { read: { columns: ['Home'] } });
    expect([home.read.column, home.dedupe, home.credits.price]).toEqual(['Home', 'mailbox', 2]);
    const back = await lists.update(list.id, { read: { columns: ['Work'] }, dedupe: 'address' });
    expect([back.dedupe, back.credits.price]).toEqual(['address', 2]);
    await lists.start(back);
    expect(await codeOf(lists.update(back, { dedupe: 'mailbox' }))).toBe('list_state');
  });

  it('stream a large file without holding it', async () => {
    const rows = 20_000;
    async function* large() {
      yield Buffer.from('email\n');
      for (let i = 0; i < rows; i += 1000)
        yield Buffer.from(Array.from({ length: 1000 }, (_, n) => `user${i + n}@good.com\n`).join(''));
    }
    const { lists } = clientOf(owner);
    const list = await lists.create(large(), { start: false });
    expect(list.rows).toMatchObject({ total: rows, addresses: rows });
    let last: ListRow | null = null;
    let count = 0;
    for await (const row of lists.rows(list)) {
      count += 1;
      last = row;
    }
    expect([count, last?.email, last?.status]).toEqual([rows, `user${rows - 1}@good.com`, null]);
    const found: (string | null)[] = [];
    for await (const { email } of lists.rows(list.id, { query: 'user1999' })) found.push(email);
    expect(found).toHaveLength(11);
  });

  it('are started, paused, resumed, cancelled and erased; wait tells of each look', async () => {
    const { lists } = clientOf(owner);
    const list = await lists.create(['ada@good.com', 'bob@good.com'], { start: false });
    expect(await lists.wait(list)).toMatchObject({ status: 'ready' });
    expect(await lists.start(list)).toMatchObject({ status: 'running', credits: { held: 2 } });
    expect(await lists.pause(list.id)).toMatchObject({ status: 'paused' });
    expect(await codeOf(lists.pause(list))).toBe('list_state');
    expect(await lists.resume(list)).toMatchObject({ status: 'running' });
    expect(await codeOf(lists.remove(list))).toBe('list_state');
    const seen: string[] = [];
    const ended = lists.wait(list, { interval: 10, onProgress: ({ status }) => seen.push(status) });
    while (seen.length < 3) await after(5);
    await lists.cancel(list);
    expect(await ended).toMatchObject({ status: 'cancelled', credits: { held: 0 } });
    expect(new Set(seen)).toEqual(new Set(['running', 'cancelled']));
    expect(await lists.remove(list)).toMatchObject({ status: 'success' });
    expect(await codeOf(lists.get(list))).toBe('not_found');
  });

  it('end a wait by its signal, and leave the list', async () => {
    const { lists } = clientOf(owner);
    const list = await lists.create(['ada@good.com']);
    const stop = new AbortController();
    const wait = lists.wait(list, {
      interval: 5,
      signal: stop.signal,
      onProgress: () => stop.abort(new Error('enough')),
    });
    await expect(wait).rejects.toThrow('enough');
    expect(await lists.get(list)).toMatchObject({ status: 'running' });
    await lists.cancel(list);
  });

  it('give their results as a stream', async () => {
    const { lists } = clientOf(owner);
    const list = await lists.create(new File([FILE], 'people.csv'), { start: false });
    const csv = await text(await lists.results(list));
    expect(csv).toMatch(/^Name,Contact Email,mailvet_status/);
    expect(csv.trim().split(/\r?\n/)).toHaveLength(5);
    const lines = (await text(await lists.results(list, { format: 'jsonl' }))).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).email)).toContain('ada@good.com');
    expect(await codeOf(lists.results('lst_none'))).toBe('not_found');
  });

  it('say what the service refuses', async () => {
    const { lists } = clientOf(owner);
    expect(await codeOf(lists.create(new Blob(['a,b\n1,2\n3,4\n']), { type: 'text/csv' }))).toBe('no_address_column');
    expect(await codeOf(lists.create(['a@good.com'], { retry_minutes: -1 }))).toBe('invalid_parameter');
    const poor = clientOf(await lab.member({ credits: 1 }));
    const list = await poor.lists.create(['a@good.com', 'b@good.com']);
    expect(list).toMatchObject({ status: 'ready', error: { code: 'insufficient_credits' } });
    expect(await codeOf(poor.lists.start(list))).toBe('insufficient_credits');
    expect(await codeOf(lists.get(list))).toBe('not_found');
    const wrong = createMailvet({ url: lab.url, key: 'mv_live_wrong' });
    expect(await codeOf(wrong.lists.create(new Blob([FILE])))).toBe('invalid_api_key');
  });

  it('reject with what their source fails with, and leave nothing', async () => {
    const { lists } = clientOf(owner);
    const before = (await lists.list()).pagination.total_count;
    async function* broken() {
      yield Buffer.from('email\nada@good.com\n');
      throw new RangeError('disk gone');
    }
    await expect(lists.create(broken())).rejects.toThrow(new RangeError('disk gone'));
    await expect(lists.create(Readable.toWeb(Readable.from(broken())) as ReadableStream)).rejects.toThrow('disk gone');
    await expect(lists.create(createReadStream('/no/such/file.csv'))).rejects.toMatchObject({
      code: 'ENOENT',
      path: '/no/such/file.csv',
    });
    for (const wrong of ['ada@good.com', Buffer.from(FILE), {}, null])
      await expect(lists.create(wrong as never)).rejects.toThrow(
        /must be a File or Blob, a stream of bytes or, for a list, an array/,
      );
    expect((await lists.list()).pagination.total_count).toBe(before);
  });

  it('cost nothing with a test key', async () => {
    const { lists } = clientOf(await lab.testMember(owner));
    const list = await lists.create(['mailbox_not_found@good.com'], { validation_type: 'smtp' });
    expect(list).toMatchObject({ status: 'running', credits: { price: 0, held: 0, used: 0 } });
    expect(await codeOf(clientOf(owner).lists.get(list))).toBe('not_found');
    await lists.cancel(list);
    expect(await lab.store.accounts.audit()).toEqual([]);
  });
});
