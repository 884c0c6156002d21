import { afterEach, expect, it } from 'vitest';
import { type DnsLab, zone } from '../../../tests/lab/dns.ts';
import { systemClock } from '../../kernel/clock.ts';
import { createResolver, type Resolver } from './resolver.ts';

let lab: DnsLab;
let resolver: Resolver;
afterEach(async () => {
  resolver.close();
  await lab.close();
});

it('a hanging control query does not delay the result for other callers', async () => {
  lab = await zone({ 'first.com': { A: ['127.0.0.1'] } });
  resolver = createResolver({ servers: lab.servers, timeoutMs: 1000, clock: systemClock });
  const soon = () => systemClock.elapsed() + 800;
  await resolver.ask('first.com', 'A', { deadlineMs: soon() });
  // From here on the name answered last, which is a control query, is never answered again.
  lab.set('first.com', { fault: 'silent' });
  for (let i = 0; i < 4; i++) {
    expect(await resolver.alive({ deadlineMs: soon(), sinceMs: systemClock.elapsed() })).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  await lab.pause('silent');
  expect(await resolver.alive({ deadlineMs: soon(), sinceMs: systemClock.elapsed() })).toBe(false);
});
