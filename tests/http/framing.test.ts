/** Where one request ends and the next one begins: whatever proxies in front may take for the end. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openRaw, statusIn } from '../lab/raw-connection.ts';
import { type Lab, type Member, startLab } from '../lab/service.ts';

let lab: Lab;
let owner: Member;
beforeAll(async () => {
  lab = await startLab();
  owner = await lab.member();
});
afterAll(() => lab.close());

const BODY = '{"email":"a@null-mx.com"}';
/** A domain whose DNS takes a while. */
const SLOW = '{"email":"a@silent.com"}';
const verify = (framing: string, body = BODY, version = '1.1'): string =>
  `POST /v1/verify HTTP/${version}\r\nhost: lab\r\nauthorization: Bearer ${owner.key}\r\n` +
  `content-type: application/json\r\n${framing}\r\n\r\n${body}`;
const whole = () => verify(`content-length: ${BODY.length}`);
const balance = async () => (await lab.store.accounts.get(owner.account.id))?.balance;

const CHUNKED = `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`;
it.each([
  ['HTTP/1.0 in chunks', 'connection: keep-alive\r\ntransfer-encoding: chunked', '1.0'],
  ['two kinds of length', `transfer-encoding: chunked\r\ncontent-length: ${CHUNKED.length}`, '1.1'],
  ['two lengths', `content-length: ${CHUNKED.length}\r\ncontent-length: ${CHUNKED.length}`, '1.1'],
  ['two codings', 'transfer-encoding: chunked, identity', '1.1'],
  ['white space before the colon', 'transfer-encoding : chunked', '1.1'],
  ['a folded header', 'transfer-encoding:\r\n chunked', '1.1'],
  ['a bare line feed', 'x: y\ntransfer-encoding: chunked', '1.1'],
])('%s is refused, and the connection closed', async (_name, framing, version) => {
  const before = await balance();
  const connection = await openRaw(lab.url);
  connection.socket.write(verify(framing, CHUNKED, version));
  await connection.closed;
  expect(statusIn(connection.received())).toBe(400);
  expect(await balance()).toBe(before);
});

it.each(['h2c', 'websocket'])('a request to change to %s is answered and is the last of its connection', async (to) => {
  const before = await balance();
  const connection = await openRaw(lab.url);
  const upgrade = `GET /healthz HTTP/1.1\r\nhost: lab\r\nconnection: upgrade\r\nupgrade: ${to}\r\n\r\n`;
  // Node drops what comes with it in one piece: here the head of a request, whose body would then be taken for one.
  connection.socket.write(upgrade + verify(`content-length: ${whole().length}`, ''));
  await sleep(50);
  connection.socket.write(whole());
  await connection.closed;
  const received = connection.received();
  expect([statusIn(received), received.match(/^HTTP\/1/gm)]).toEqual([200, ['HTTP/1']]);
  expect(received).toMatch(/^connection: close\r$/im);
  expect(await balance()).toBe(before);
});

it('what comes with a request to change the protocol is not served while that one is', async () => {
  const before = await balance();
  const connection = await openRaw(lab.url);
  const slow = verify(`connection: upgrade\r\nupgrade: h2c\r\ncontent-length: ${SLOW.length}`, SLOW);
  connection.socket.write(slow);
  await sleep(50);
  connection.socket.write(whole());
  await connection.closed;
  expect(connection.received().match(/^HTTP\/1/gm)).toEqual(['HTTP/1']);
  // The first one was charged.
  expect(await balance()).toBe((before ?? 0) - 1);
});
