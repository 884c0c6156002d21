/** Lists over the API, in a service that runs no jobs: a test does the work on them itself, where it wants it done. */
import { listResultId } from '../../src/kernel/ids.ts';
import { type Lab, type Member, type Reply, startLab } from '../lab/service.ts';

export const startListLab = (): Promise<Lab> => startLab({ MAILVET_ROLE: 'api' });

/** A body that is no JSON. */
export async function send(
  { url }: Pick<Lab, 'url'>,
  { key }: Pick<Member, 'key'>,
  path: string,
  body: NonNullable<RequestInit['body']>,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const own = { authorization: `Bearer ${key}`, ...headers };
  const response = await fetch(url + path, { method: 'POST', headers: own, body });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: JSON.parse(text) };
}

export const sendCsv = (lab: Pick<Lab, 'url'>, who: Pick<Member, 'key'>, text: string, query = ''): Promise<Reply> =>
  send(lab, who, `/v1/lists${query}`, text, { 'content-type': 'text/csv' });

/** Verifies up to `chunks` chunks by single calls of the same member, whose records become those of the list. */
export async function verifyChunks(
  { store }: Lab,
  who: Member,
  id: string,
  chunks = 100,
  most = Infinity,
): Promise<void> {
  const { id: account } = who.account;
  const works = await store.lists.claim({ account, list: id, lease: 'test', leaseMs: 60_000, chunks });
  const outcomes = [];
  for (const work of works.slice(0, most)) {
    const { json } = await who.verify(work.email);
    const single = await store.verifications.get(account, json.id);
    if (single === null) throw new Error(`${work.email} was not verified: ${JSON.stringify(json)}`);
    const record = { ...single, id: listResultId(id, work.address) };
    outcomes.push({ work, record: { ...record, body: JSON.stringify({ ...json, id: record.id }) } });
  }
  await store.lists.record(account, id, outcomes);
  await store.lists.release({ account, list: id, lease: 'test' });
}
