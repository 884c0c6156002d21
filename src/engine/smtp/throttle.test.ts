import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { labEgresses } from '../../../tests/lab/mailbox.ts';
import { kinds, throttleLab as setup } from '../../../tests/lab/throttle.ts';
import { backgroundTenant, CANARY_TENANT } from './limiter.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

describe('throttle', () => {
  it('limits dialogues per host and starts the next when one ends', () => {
    const { enter, throttle } = setup({ connectionsPerHost: 2 });
    const [a, b, c, other] = [enter(), enter(), enter(), enter({ host: 'mx2.a.test' })];
    expect(kinds(a, b, c, other)).toEqual(['go', 'go', 'waits', 'go']);
    a.release();
    a.release();
    expect(c.kind).toBe('go');
    expect(enter().kind).toBe('waits');
    expect(throttle.stats()).toMatchObject({ open: 3, waiting: 1, begun: 4 });
  });

  it('limits dialogues per second per operator across its hosts, independently of other operators', () => {
    const { enter, pass } = setup({ ratePerOperator: 2 });
    const begin = () => kinds(enter(), enter({ host: 'mx2.a.test' }), enter({ host: 'mx3.a.test' }));
    expect(begin()).toEqual(['go', 'go', 'waits']);
    expect(enter({ operator: 'b' }).kind).toBe('go');
    const waiting = enter();
    pass(1_010);
    expect(waiting.kind).toBe('go');
    expect(begin()).toEqual(['waits', 'waits', 'waits']);
  });

  it('rejects immediately if a permit would come too late', () => {
    const { enter, throttle } = setup({ ratePerOperator: 0.5 });
    expect(enter({ mayShare: false }).kind).toBe('go');
    expect(enter({ mayShare: false, startByMs: 2_000 }).kind).toBe('late');
    expect(enter({ mayShare: true, startByMs: 2_000 }).kind).toBe('waits');
    expect(throttle.stats().late).toBe(1);
  });

  it('halves its rate on a complaint, once per second, and recovers', () => {
    const { enter, pass } = setup({ ratePerOperator: 2 });
    const first = enter();
    const inTenSeconds = () => {
      let begun = 0;
      for (let i = 0; i < 100; i++) {
        pass(100);
        const place = enter();
        if (place.kind === 'go') begun++;
        place.leave();
      }
      return begun;
    };
    inTenSeconds();
    expect(inTenSeconds()).toBeGreaterThanOrEqual(19);
    first.lease?.slowDown({ isOfDomain: false });
    first.lease?.slowDown({ isOfDomain: false });
    const slowed = inTenSeconds();
    expect(slowed).toBeGreaterThanOrEqual(8);
    expect(slowed).toBeLessThanOrEqual(11);
    pass(60_000);
    expect(inTenSeconds()).toBeGreaterThanOrEqual(19);
  });

  it('a complaint to accounts slows down each of them, with its background work, and nobody else', () => {
    const { enter, pass } = setup({ ratePerOperator: 4 });
    // Each with an address of its own, which would slow down for all.
    let hosts = 0;
    const inTenSeconds = (tenant: string) => {
      let begun = 0;
      for (let i = 0; i < 100; i++) {
        pass(100);
        const place = enter({ tenant, host: `mx${hosts++}.a.test` });
        if (place.kind === 'go') begun++;
        place.leave();
        place.release();
      }
      return begun;
    };
    const complain = (tenant: string) => {
      pass(1_000);
      const place = enter({ tenant, host: `mx${hosts++}.a.test` });
      place.lease?.slowDown({ isOfDomain: false });
      place.release();
    };
    for (let i = 0; i < 3; i++) complain('a');
    expect(inTenSeconds('a')).toBeLessThanOrEqual(6);
    expect(inTenSeconds(backgroundTenant('a'))).toBeLessThanOrEqual(6);
    expect(inTenSeconds('b')).toBeGreaterThanOrEqual(38);
    complain('b');
    expect(inTenSeconds('b')).toBeLessThanOrEqual(21);
    expect(inTenSeconds('c')).toBeGreaterThanOrEqual(38);
    pass(240_000);
    for (const tenant of ['a', 'b', 'c']) expect(inTenSeconds(tenant)).toBeGreaterThanOrEqual(38);
  });

  it('a waiting account that is slowed down, or has a breaker of its own, is in nobody’s way', () => {
    const { enter, pass } = setup({ connectionsPerHost: 1, ratePerOperator: 8 });
    const at = (tenant: string, address: string) => enter({ tenant, address, host: `${tenant}.a.test` });
    at('a', '192.0.2.1').refused();
    pass(60_001);
    const trial = at('a', '192.0.2.2');
    const first = at('b', '192.0.2.3');
    const [behindTrial, behindFirst] = [at('a', '192.0.2.3'), at('b', '192.0.2.3')];
    expect(kinds(trial, first, behindTrial, behindFirst)).toEqual(['go', 'go', 'waits', 'waits']);
    first.release();
    expect(kinds(behindTrial, behindFirst)).toEqual(['waits', 'go']);
  });

  it('opens the breaker on a rejection of our IP, rejects waiting requests, and half-opens later', () => {
    const { enter, pass } = setup({ connectionsPerHost: 1 });
    const first = enter();
    const waiting = enter({ host: 'mx2.a.test', address: '192.0.0.1' });
    expect(waiting.kind).toBe('waits');
    const operator = enter({ host: 'mx3.a.test' });
    operator.refused();
    expect([waiting.permit, enter().permit]).toEqual(
      times(2, () => ({ kind: 'blocked', by: 'operator', retryAfterSeconds: 60 })),
    );
    first.release();
    expect(enter({ operator: 'b' }).kind).toBe('go');
    pass(60_001);
    const trial = enter();
    const behind = enter({ host: 'mx2.a.test' });
    expect(kinds(trial, behind)).toEqual(['go', 'waits']);
    trial.lease?.answered();
    expect(behind.kind).toBe('go');
  });

  it('opens the breaker of an operator for all only when our own question is rejected, which two accounts lead to', () => {
    const askOperator = vi.fn();
    const { enter, pass } = setup({ askOperator });
    let hosts = 0;
    // Each with an address of its own, whose breaker would open as well.
    const at = (tenant: string) => enter({ tenant, host: `mx${hosts++}.a.test` });
    for (let n = 0; n < 5; n++) at('a').refused();
    expect(askOperator).not.toHaveBeenCalled();
    for (const tenant of ['b', 'c', 'd']) at(tenant).refused();
    expect(askOperator.mock.calls).toEqual([['a', 'default']]);
    expect(kinds(at('a'), at('b'), at('e'), at(CANARY_TENANT))).toEqual(['blocked', 'blocked', 'go', 'go']);
    at(CANARY_TENANT).refused();
    expect(kinds(at('e'), at(CANARY_TENANT))).toEqual(['blocked', 'go']);
    pass(60_001);
    const trial = at('e');
    expect(kinds(trial, at('f'))).toEqual(['go', 'waits']);
    trial.refused();
    expect(askOperator).toHaveBeenCalledTimes(2);
    at(CANARY_TENANT).answered();
    expect(kinds(...['a', 'e', 'f'].map(at))).toEqual(['go', 'go', 'go']);
  });

  it('opens the breaker of an address for all when it rejects two accounts before a recipient is named', () => {
    const { enter } = setup();
    let operators = 0;
    const at = (tenant: string) => enter({ tenant, operator: `o${operators++}`, address: '192.0.2.1' });
    for (const tenant of ['a', 'b']) for (let n = 0; n < 4; n++) at(tenant).refused({ isForDomain: true });
    expect(kinds(at('a'), at('b'), at('c'))).toEqual(['blocked', 'blocked', 'go']);
    const [one, other] = [at('c'), at('d')];
    one.refused();
    expect(at('e').kind).toBe('go');
    other.refused();
    expect(at('e').kind).toBe('blocked');
  });

  it('refuses those that wait for a domain which rejected our IP for its recipient, and no others', () => {
    const { enter } = setup({ connectionsPerHost: 1 });
    const first = enter({ domain: 'x.test' });
    const [same, other] = [enter({ domain: 'x.test' }), enter({ domain: 'y.test' })];
    enter({ domain: 'x.test', host: 'mx2.a.test' }).refused({ isForDomain: true });
    first.release();
    expect(same.permit).toMatchObject({ kind: 'blocked', retryAfterSeconds: 60 });
    expect(other.kind).toBe('go');
    expect(enter({ domain: 'x.test' }).permit).toEqual({ kind: 'blocked', by: 'domain', retryAfterSeconds: 60 });
  });

  it('opens the breaker once three domains in a row rejected our IP for their recipients', () => {
    const { enter, pass } = setup();
    const rejects = (domain: string) => enter({ domain }).refused({ isForDomain: true });
    const other = () => enter({ domain: 'other.test' });
    for (const domain of ['1.test', '2.test']) rejects(domain);
    other().answered();
    for (const domain of ['3.test', '4.test']) rejects(domain);
    expect(other().kind).toBe('go');
    rejects('5.test');
    expect(other().permit).toEqual({ kind: 'blocked', by: 'operator', retryAfterSeconds: 60 });
    pass(60_001);
    rejects('1.test');
    expect(other().kind).toBe('go');
  });

  it('never opens a disabled breaker', () => {
    const { enter } = setup({ breakerSeconds: 0 });
    enter().refused();
    expect(enter().kind).toBe('go');
  });

  it('asks about one domain from one egress, each egress about its share, by family, and not from another one after a rejection', () => {
    const { enter } = setup({ egresses: labEgresses(['192.0.2.1', '192.0.2.2', '2001:db8::1']) });
    const from = (domain: string) => enter({ domain }).lease?.egress.bind;
    const first = from('a.test');
    expect(times(4, () => from('a.test'))).toEqual(Array(4).fill(first));
    expect(new Set(times(40, (i) => from(`${i}.test`)))).toEqual(new Set(['192.0.2.1', '192.0.2.2']));
    expect(enter({ address: '2001:db8::2' }).lease?.egress.bind).toBe('2001:db8::1');
    enter({ domain: 'a.test' }).refused();
    expect(enter({ domain: 'a.test' }).permit).toMatchObject({ kind: 'blocked', by: 'operator' });
    const others = times(40, (i) => enter({ domain: `${i}.test` }));
    for (const other of others) if (other.kind === 'go') expect(other.lease?.egress.bind).not.toBe(first);
    expect(new Set(kinds(...others))).toEqual(new Set(['go', 'blocked']));
  });

  it('a new egress takes its share of the domains, and moves no other; a deferred recipient keeps its egress', () => {
    const before = ['192.0.2.1', '192.0.2.2', '192.0.2.3'];
    const after = labEgresses(['192.0.2.4', ...before.toReversed()]);
    const [small, large] = [setup({ egresses: labEgresses(before) }), setup({ egresses: after })];
    const question = { operator: () => 'a', address: '198.51.100.1', kept: null };
    const domains = times(400, (i) => `${i}.test`);
    const moved = domains.filter((domain) => {
      const [was, is] = [small, large].map(({ throttle }) => throttle.chooseEgress({ ...question, domain }));
      if (was !== is) expect(is).toBe('192.0.2.4');
      return was !== is;
    });
    expect(moved.length).toBeGreaterThan(50);
    expect(moved.length).toBeLessThan(150);
    for (const domain of moved) {
      const kept = small.throttle.chooseEgress({ ...question, domain });
      expect(large.throttle.chooseEgress({ ...question, domain, kept })).toBe(kept);
      expect(large.throttle.chooseEgress({ ...question, domain, kept: '192.0.2.99' })).toBe('192.0.2.4');
    }
  });

  it('keeps the process-wide limit and serves operators in turn', () => {
    const { enter } = setup({ dialogues: 2 });
    const [a, a2] = [enter(), enter()];
    const [a3, b, a4] = [enter(), enter({ operator: 'b' }), enter()];
    expect(kinds(a3, b, a4)).toEqual(['waits', 'waits', 'waits']);
    a.release();
    a2.release();
    expect(kinds(a3, b, a4)).toEqual(['go', 'go', 'waits']);
  });

  it('drops what it no longer needs', () => {
    const { enter, throttle, pass } = setup({ ratePerOperator: 2 });
    for (let i = 0; i < 9_000; i++) {
      pass(1);
      enter({ operator: `o${i}` }).release();
    }
    expect(throttle.stats().operators).toBeLessThan(6_000);
  });
});

describe('addresses and networks', () => {
  it.each([
    ['198.51.100.', '198.51.101.1'],
    ['2001:db8:0:1::', '2001:db8:0:2::1'],
  ])('count together under all names: an address like a host, a network like four (%s)', (network, next) => {
    const { enter } = setup({ connectionsPerHost: 2 });
    const dial = (operator: string, address: string) => enter({ operator, address });
    const same = times(5, (i) => dial(`${i}`, `${network}1`));
    expect(kinds(...same)).toEqual(['go', 'go', 'waits', 'waits', 'waits']);
    const near = times(7, (i) => dial(`near${i}`, `${network}${i + 2}`));
    expect(kinds(...near)).toEqual(['go', 'go', 'go', 'go', 'go', 'go', 'waits']);
    expect(dial('next', next).kind).toBe('go');
    near[0]?.release();
    expect(near[6]?.kind).toBe('go');
    same[0]?.release();
    expect(kinds(...same)).toEqual(['go', 'go', 'go', 'waits', 'waits']);
  });

  it('have a rate as well', () => {
    const { enter } = setup({ ratePerOperator: 2 });
    const all = times(10, (i) => enter({ operator: `${i}`, address: `192.0.2.${i < 4 ? 1 : i}` }));
    expect(kinds(...all)).toEqual([...'gwg'].flatMap((c, i) => Array([2, 2, 6][i]).fill(c === 'g' ? 'go' : 'waits')));
    expect(enter({ operator: 'next', address: '192.0.2.200' }).kind).toBe('waits');
  });

  it('a name that rejects our IP speaks for its address, but not against a name that just accepted us', () => {
    const { enter } = setup();
    const at = (operator: string) => enter({ operator, address: '192.0.2.1' });
    at('a').answered();
    at('b').refused();
    expect(at('b').permit).toMatchObject({ kind: 'blocked', by: 'operator' });
    expect(at('c').kind).toBe('go');
    at('c').refused();
    expect(at('a').permit).toEqual({ kind: 'blocked', by: 'address', retryAfterSeconds: 60 });
    expect(enter({ operator: 'a', address: '192.0.2.2' }).kind).toBe('go');
  });

  it('an address is tried again by one of its names, whose answer counts for all', () => {
    const { enter, pass } = setup();
    const at = (operator: string) => enter({ operator, address: '192.0.2.1' });
    at('a').refused();
    pass(60_001);
    const [trial, behind] = [at('b'), at('c')];
    expect(kinds(trial, behind)).toEqual(['go', 'waits']);
    trial.answered();
    expect(kinds(behind, at('d'))).toEqual(['go', 'go']);
  });
});

describe('tenants', () => {
  it('with fewer dialogues at the address come first', () => {
    const { enter } = setup({ connectionsPerHost: 4 });
    const many = times(20, (i) => enter({ tenant: 'many', operator: `o${i}`, address: '192.0.2.1' }));
    const few = times(3, () => enter({ tenant: 'few', operator: 'f', address: '192.0.2.1' }));
    for (const entry of many.slice(0, 4)) entry.release();
    expect(few.filter(({ kind }) => kind === 'go')).toHaveLength(2);
    expect(many.filter(({ kind }) => kind === 'go')).toHaveLength(6);
  });

  it('take turns at a rate, and none is late because of the requests of another', () => {
    const { enter, pass } = setup({ ratePerOperator: 1 });
    const startByMs = 11_000;
    const many = times(100, () => enter({ tenant: 'many', mayShare: false, startByMs }));
    expect(many.filter(({ kind }) => kind === 'waits')).toHaveLength(9);
    const few = times(2, () => enter({ tenant: 'few', mayShare: false, startByMs }));
    expect(kinds(...few)).toEqual(['waits', 'waits']);
    pass(4_100);
    expect(kinds(...few)).toEqual(['go', 'go']);
    expect(many.filter(({ kind }) => kind === 'go')).toHaveLength(3);
  });

  it('that wait for two limits are not passed over forever', () => {
    const { enter, pass } = setup({ connectionsPerHost: 1, ratePerOperator: 1 });
    const [operator, address, tenant] = ['busy', '192.0.2.1', 'other'];
    times(30, (i) => enter({ tenant, operator, host: `mx${i}.busy.test` }));
    pass(500);
    let atAddress = enter({ tenant, operator: 'p', address });
    const both = enter({ tenant: 'both', operator, host: 'mx.both.test', address });
    // The operator has a token at about each full second, and the address a place in between: others take them.
    for (let i = 0; i < 4; i++) {
      const next = enter({ tenant, operator: `p${i}`, address });
      pass(1_000);
      atAddress.release();
      if (next.kind === 'go') atAddress = next;
    }
    expect(both.kind).toBe('go');
  });
});
