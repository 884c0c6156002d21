import type { IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import { callerIp } from './exchange.ts';

const from = (remoteAddress: string, forwarded: string, trusted: readonly string[]) =>
  callerIp(trusted)({ socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } } as IncomingMessage & {
    headers: { 'x-forwarded-for': string };
  });

it.each([
  ['fe80::1%eth0', ['fe80::1'], '192.0.2.9'],
  ['fe80::1%eth0', ['fe80::/10'], '192.0.2.9'],
  ['fe80::2%eth0', ['fe80::1'], 'fe80::2'],
  ['::ffff:10.0.0.1', ['10.0.0.0/8'], '192.0.2.9'],
])('a connection from %s, trusted %j: %s', (peer, trusted, caller) => {
  expect(from(peer, '192.0.2.9', trusted)).toBe(caller);
});

it.each([
  ['192.0.2.1:4711', '192.0.2.1'],
  ['[2001:DB8::1]:4711', '2001:db8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['2001:db8::1', '2001:db8::1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['unknown', '10.0.0.1'],
  ['192.0.2.1:', '10.0.0.1'],
  ['[192.0.2.1]:80', '10.0.0.1'],
  ['192.0.2.1:80:80', '10.0.0.1'],
])('forwarded %s: %s', (hop, caller) => expect(from('10.0.0.1', hop, ['10.0.0.1'])).toBe(caller));
