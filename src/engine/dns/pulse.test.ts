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

it('a control that hangs keeps nobody from being told that the resolver lives', async () => {
  lab = await zone({ 'first.com': { A: ['127.0.0.1'] } });
  resolver = createResolver({ servers: lab.servers, timeoutMs: 1000, clock: systemClock });
  const soon = () => systemClock.elapsed() + 800;
  await resolver.ask('first.com', 'A', { deadline: soon() });
  // From here on the name that was answered last, and so is a control, is never answered again.
  lab.set('first.com', { fault: 'silent' });
  for (let i = 0; i < 4; i++) {
    expect(await resolver.alive({ deadline: soon(), since: systemClock.elapsed() })).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  await lab.pause('silent');
  expect(await resolver.alive({ deadline: soon(), since: systemClock.elapsed() })).toBe(false);
});
