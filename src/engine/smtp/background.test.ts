import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { kinds, throttleLab as setup } from '../../../tests/lab/throttle.ts';
import { backgroundTenant } from './limiter.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('background work', () => {
  const list = { tenant: backgroundTenant('t') };

  it('leaves one place at every limiter to others', () => {
    const { enter } = setup({ connectionsPerHost: 3 });
    const begun = [enter(list), enter(list), enter(list)];
    expect(kinds(...begun)).toEqual(['go', 'go', 'waits']);
    const single = enter();
    expect(single.kind).toBe('go');
    begun[0]?.release();
    expect(kinds(...begun)).toEqual(['go', 'go', 'waits']);
    single.release();
    expect(kinds(...begun)).toEqual(['go', 'go', 'go']);
  });

  it('uses the only place if there is one', () => {
    expect(setup({ connectionsPerHost: 1 }).enter(list).kind).toBe('go');
  });

  it('leaves one dialogue of the rate to others, and is served when the rate allows two', () => {
    const { enter, pass } = setup({ ratePerOperator: 4 });
    const begun = [enter(list), enter(list), enter(list), enter(list)];
    expect(kinds(...begun)).toEqual(['go', 'go', 'go', 'waits']);
    expect(enter().kind).toBe('go');
    pass(300);
    expect(begun[3]?.kind).toBe('waits');
    pass(400);
    expect(begun[3]?.kind).toBe('go');
  });

  it('is served after everybody else, however long it has waited', () => {
    const { enter, pass } = setup({ connectionsPerHost: 1 });
    const [first, waiting] = [enter(list), enter(list)];
    pass(1_000);
    const [single, other] = [enter(), enter({ tenant: 'u' })];
    expect(kinds(waiting, single, other)).toEqual(['waits', 'waits', 'waits']);
    first.release();
    expect(kinds(waiting, single, other)).toEqual(['waits', 'go', 'waits']);
    single.release();
    expect(kinds(waiting, other)).toEqual(['waits', 'go']);
    other.release();
    expect(waiting.kind).toBe('go');
  });

  it('does not make a single request late', () => {
    const { enter } = setup({ ratePerOperator: 2 });
    for (let i = 0; i < 50; i++) enter(list);
    expect(enter({ mayShare: false, startByMs: 2_500 }).kind).toBe('go');
    expect(enter({ mayShare: false, startByMs: 2_500 }).kind).toBe('waits');
    expect(enter({ ...list, mayShare: false, startByMs: 2_500 }).kind).toBe('late');
  });
});
