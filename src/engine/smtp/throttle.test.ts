import { describe, expect, it } from 'vitest';
import { type Permit, type PermitRequest, Throttle, type ThrottleOptions } from './throttle.ts';

/** A manual clock; deadlines are far away, so that real timers do not matter. */
function setup(options: Partial<ThrottleOptions> = {}) {
  let now = 1_000;
  const pace = new Throttle({
    clock: { now: () => 0, elapsed: () => now },
    connectionsPerHost: 100,
    ratePerOperator: 0,
    breakerSeconds: 60,
    egress: [],
    dialogues: 1_000,
    ...options,
  });
  const enter = (request: Partial<PermitRequest> = {}) => {
    const turns: Permit[] = [];
    const leave = pace.acquire({
      operator: 'a',
      host: 'mx.a.test',
      family: 4,
      deadline: now + 3_600_000,
      mayShare: true,
      onPermit: (turn) => turns.push(turn),
      ...request,
    });
    return {
      leave,
      get kind() {
        return turns[0]?.kind ?? 'waits';
      },
      get egress() {
        return turns[0]?.kind === 'go' ? turns[0].egress : undefined;
      },
      release: () => turns[0]?.kind === 'go' && turns[0].release(),
    };
  };
  return {
    pace,
    enter,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

describe('throttle', () => {
  it('limits dialogues per host and starts the next when one ends', () => {
    const { enter, pace } = setup({ connectionsPerHost: 2 });
    const [a, b, c, other] = [enter(), enter(), enter(), enter({ host: 'mx2.a.test' })];
    expect([a.kind, b.kind, c.kind, other.kind]).toEqual(['go', 'go', 'waits', 'go']);
    a.release();
    a.release();
    expect(c.kind).toBe('go');
    expect(enter().kind).toBe('waits');
    expect(pace.stats()).toMatchObject({ open: 3, waiting: 1, begun: 4 });
  });

  it('limits dialogues per second per operator across its hosts, independently of other operators', () => {
    const { enter, pass } = setup({ ratePerOperator: 2 });
    const kinds = () => [enter(), enter({ host: 'mx2.a.test' }), enter({ host: 'mx3.a.test' })].map(({ kind }) => kind);
    expect(kinds()).toEqual(['go', 'go', 'waits']);
    expect(enter({ operator: 'b' }).kind).toBe('go');
    pass(500);
    // One more: the longest waiting one starts.
    expect(kinds()).toEqual(['waits', 'waits', 'waits']);
  });

  it('rejects immediately if a permit would come too late', () => {
    const { enter, pace } = setup({ ratePerOperator: 0.5 });
    expect(enter({ mayShare: false }).kind).toBe('go');
    expect(enter({ mayShare: false, deadline: 2_000 }).kind).toBe('late');
    expect(enter({ mayShare: true, deadline: 2_000 }).kind).toBe('waits');
    expect(pace.stats().late).toBe(1);
  });

  it('halves its rate on a complaint, once per second, and recovers', () => {
    const { enter, pace, pass } = setup({ ratePerOperator: 2 });
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
    pace.slowDown('a', null);
    pace.slowDown('a', null);
    const slowed = inTenSeconds();
    expect(slowed).toBeGreaterThanOrEqual(8);
    expect(slowed).toBeLessThanOrEqual(11);
    pass(60_000);
    expect(inTenSeconds()).toBeGreaterThanOrEqual(19);
  });

  it('opens the breaker on a rejection of our IP, rejects waiting requests, and half-opens later', () => {
    const { enter, pace, pass } = setup({ connectionsPerHost: 1 });
    const first = enter();
    const waiting = enter();
    pace.refused('a', null);
    first.release();
    expect(waiting.kind).toBe('blocked');
    expect(enter().kind).toBe('blocked');
    expect(enter({ operator: 'b' }).kind).toBe('go');
    pass(60_001);
    const trial = enter();
    const behind = enter({ host: 'mx2.a.test' });
    expect([trial.kind, behind.kind]).toEqual(['go', 'waits']);
    pace.answered('a', null);
    expect(behind.kind).toBe('go');
  });

  it('never opens a disabled breaker', () => {
    const { enter, pace } = setup({ breakerSeconds: 0 });
    pace.refused('a', null);
    expect(enter().kind).toBe('go');
  });

  it('uses egress addresses in turn, by family, and another one if the first is rejected', () => {
    const { enter, pace } = setup({ egress: ['192.0.2.1', '192.0.2.2', '2001:db8::1'] });
    expect([enter(), enter(), enter()].map(({ egress }) => egress)).toEqual(['192.0.2.1', '192.0.2.2', '192.0.2.1']);
    expect(enter({ family: 6 }).egress).toBe('2001:db8::1');
    pace.refused('a', '192.0.2.1');
    expect([enter(), enter(), enter()].map(({ egress }) => egress)).toEqual(Array(3).fill('192.0.2.2'));
    pace.refused('a', '192.0.2.2');
    expect(enter().kind).toBe('blocked');
  });

  it('keeps the process-wide limit and serves operators in turn', () => {
    const { enter } = setup({ dialogues: 2 });
    const [a, a2] = [enter(), enter()];
    const [a3, b, a4] = [enter(), enter({ operator: 'b' }), enter()];
    expect([a3.kind, b.kind, a4.kind]).toEqual(['waits', 'waits', 'waits']);
    a.release();
    a2.release();
    expect([a3.kind, b.kind, a4.kind]).toEqual(['go', 'go', 'waits']);
  });

  it('drops pristine queues', () => {
    const { enter, pace, pass } = setup({ ratePerOperator: 2 });
    for (let i = 0; i < 9_000; i++) {
      pass(1);
      enter({ operator: `o${i}` }).release();
    }
    expect(pace.stats().operators).toBeLessThan(6_000);
  });
});
