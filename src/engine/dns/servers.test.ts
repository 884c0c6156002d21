import { isIP } from 'node:net';
import { describe, expect, it } from 'vitest';
import { parseServers, systemServers } from './servers.ts';

describe('parseServers', () => {
  it('reads addresses with and without ports', () => {
    expect(parseServers('192.0.2.1, 192.0.2.2:5353,::1,[2001:db8::1],[2001:db8::2]:54')).toEqual({
      ok: true,
      servers: [
        { address: '192.0.2.1', port: 53 },
        { address: '192.0.2.2', port: 5353 },
        { address: '::1', port: 53 },
        { address: '2001:db8::1', port: 53 },
        { address: '2001:db8::2', port: 54 },
      ],
    });
  });

  it.each([
    '',
    'localhost',
    '1.2.3',
    '1.2.3.4:',
    '1.2.3.4:0',
    '1.2.3.4:65536',
    '1.2.3.4:53:53',
    '[1.2.3.4]:53',
    '[::1',
    '[::1]53',
    '1.2.3.4:+5',
  ])('names the entry it cannot use: %j', (entry) => {
    expect(parseServers(entry)).toEqual({ ok: false, entry });
    expect(parseServers(`192.0.2.1,${entry}`)).toEqual({ ok: false, entry });
  });
});

describe('systemServers', () => {
  it('has at least one address', () => {
    const servers = systemServers();
    expect(servers.length).toBeGreaterThan(0);
    for (const { address } of servers) expect(isIP(address)).toBeGreaterThan(0);
  });
});
