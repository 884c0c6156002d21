/** What the client in TypeScript has of its own; client-cases.test.ts runs what all clients do. */
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { setTimeout as after } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMailvet, type ListRow } from '../../sdk/src/index.ts';
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
const FILE = 'Name,Contact Email\nAda,ada@good.com\nBob,bob@good.com\nAda,ada@good.com\n,\n';

describe('lists of the client', () => {
  it('are created from a file of Excel on Windows, a Blob, and streams of Node and of the web', async () => {
    const { lists } = clientOf(owner);
    const ready = { start: false } as const;
    const counted = { total: 4, addresses: 2, duplicates: 1 };
    const excel = await lists.create(new File([FILE], 'excel.csv', { type: 'application/vnd.ms-excel' }), ready);
    expect(excel).toMatchObject({ name: 'excel.csv', rows: counted });
    const blob = await lists.create(new Blob(['ada@good.com\nbob@good.com\n']), { ...ready, type: 'text/plain' });
    expect(blob.rows).toMatchObject({ total: 2, addresses: 2 });
    for (const source of [Readable.from([Buffer.from(FILE)]), Readable.toWeb(Readable.from([Buffer.from(FILE)]))])
      expect((await lists.create(source as AsyncIterable<Uint8Array>, ready)).rows).toMatchObject(counted);
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

  it('are waited for until somebody cancels them', async () => {
    const { lists } = clientOf(owner);
    const list = await lists.create(['ada@good.com', 'bob@good.com']);
    const seen: string[] = [];
    const ended = lists.wait(list, { interval: 10, onProgress: ({ status }) => seen.push(status) });
    while (seen.length < 3) await after(5);
    await lists.cancel(list);
    expect(await ended).toMatchObject({ status: 'cancelled', credits: { held: 0 } });
    expect(new Set(seen)).toEqual(new Set(['running', 'cancelled']));
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

  it('reject with what their source fails with, and leave nothing', async () => {
    const { lists } = clientOf(owner);
    const before = (await lists.list()).pagination.total_count;
    async function* broken() {
      yield Buffer.from('email\nada@good.com\n');
      throw new RangeError('disk gone');
    }
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
});
