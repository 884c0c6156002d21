/** An upload that is sent again with its Idempotency-Key makes no further list, whatever became of the first one. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Lab, Member } from '../lab/service.ts';
import { runSql } from '../lab/stores.ts';
import { send, startListLab } from './list-lab.ts';

let lab: Lab;
let owner: Member;
let outsider: Member;
beforeAll(async () => {
  lab = await startListLab();
  owner = await lab.member({ rateLimit: 100_000 });
  outsider = await lab.member({ rateLimit: 100_000 });
});
afterAll(() => lab.close());

const CSV = 'email\r\nada@good.com\r\nbo@good.com\r\n';
let keys = 0;
const newKey = () => `upload-${++keys}`;
const upload = (key: string, text = CSV, query = '', who = owner) =>
  send(lab, who, `/v1/lists${query}`, text, { 'content-type': 'text/csv', 'idempotency-key': key });
const form = (key: string, text: string, name = 'list.csv') => {
  const parts = new FormData();
  parts.set('file', new File([text], name));
  return send(lab, owner, '/v1/lists', parts, { 'idempotency-key': key });
};
const count = async (who = owner) => (await who.call('GET', '/v1/lists')).json.pagination.total_count;

describe('an upload with an Idempotency-Key', () => {
  it('is the same list when it is sent again, as it is now', async () => {
    const before = await count();
    const key = newKey();
    const first = await upload(key);
    expect([first.status, first.json.status, first.headers.get('idempotency-replayed')]).toEqual([
      201,
      'running',
      null,
    ]);
    await owner.call('POST', `/v1/lists/${first.json.id}/pause`);
    const again = await upload(key);
    expect([again.status, again.json.id, again.json.status]).toEqual([201, first.json.id, 'paused']);
    expect([again.headers.get('idempotency-replayed'), again.headers.get('location')]).toEqual([
      'true',
      `/v1/lists/${first.json.id}`,
    ]);
    expect(await count()).toBe(before + 1);
  });

  it('is the same as a form too, whose boundary is another each time', async () => {
    const key = newKey();
    const [first, again] = [await form(key, CSV), await form(key, CSV)];
    expect([first.status, again.json.id]).toEqual([201, first.json.id]);
    expect((await form(key, CSV, 'other.csv')).json.code).toBe('idempotency_key_reused');
  });

  it('is refused with other bytes or other options, and is another one for another account or key', async () => {
    const key = newKey();
    const { json } = await upload(key, CSV, '?start=false');
    for (const [text, query] of [
      [`${CSV}cy@good.com\r\n`, '?start=false'],
      [CSV, '?start=false&name=other'],
      [CSV, ''],
    ] as const) {
      const other = await upload(key, text, query);
      expect([other.status, other.json.code]).toEqual([422, 'idempotency_key_reused']);
    }
    expect((await upload(key, CSV, '?start=false', outsider)).json.id).not.toBe(json.id);
    expect((await upload(newKey(), CSV, '?start=false')).json.id).not.toBe(json.id);
    expect((await upload('ü')).status).toBe(400);
  });

  it('makes one list of many at the same time', async () => {
    const before = await count();
    const key = newKey();
    const all = await Promise.all([upload(key), upload(key)]);
    expect(new Set(all.map(({ json }) => json.id)).size).toBe(1);
    expect(await count()).toBe(before + 1);
  });

  it('that was refused leaves the key free', async () => {
    const key = newKey();
    expect((await upload(key, 'a,b\r\n1,2\r\n')).status).toBe(422);
    expect((await upload(key)).status).toBe(201);
  });

  it('is started by the second one where the first one ended between storing and starting', async () => {
    const key = newKey();
    const { json } = await upload(key);
    await owner.call('POST', `/v1/lists/${json.id}/cancel`);
    // As a process leaves it that was killed before the start.
    await runSql(
      lab.databaseUrl,
      `UPDATE lists SET status = 'ready', finished_at = NULL, started_at = NULL WHERE id = '${json.id}'`,
    );
    await runSql(lab.databaseUrl, `DELETE FROM shared_holds WHERE id = '${json.id}'`);
    const again = await upload(key);
    expect([again.status, again.json.id, again.json.status]).toEqual([201, json.id, 'running']);
  });

  it('is not made again once its list was deleted, until the key has expired', async () => {
    const key = newKey();
    const { json } = await upload(key, CSV, '?start=false');
    await owner.call('DELETE', `/v1/lists/${json.id}`);
    expect((await upload(key, CSV, '?start=false')).status).toBe(404);
    await runSql(lab.databaseUrl, `UPDATE idempotency SET expires_at = 1 WHERE key = '${key}'`);
    const later = await upload(key, CSV, '?start=false');
    expect([later.status, later.headers.get('idempotency-replayed')]).toEqual([201, null]);
    expect((await upload(key, CSV, '?start=false')).json.id).toBe(later.json.id);
  });
});
