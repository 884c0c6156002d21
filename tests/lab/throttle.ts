/** The limits towards mail servers, with fake timers and without servers. */
import { vi } from 'vitest';
import { EgressRests } from '../../src/engine/smtp/egress-rest.ts';
import { accountOfTenant } from '../../src/engine/smtp/limiter.ts';
import { type DialRoutesOptions, type Permit, type PermitRequest, Throttle } from '../../src/engine/smtp/throttle.ts';
import { labEgresses } from './mailbox.ts';

/** A manual clock. Each name has an address of its own. */
export function throttleLab(options: Partial<DialRoutesOptions> = {}) {
  let now = 1_000;
  const addresses = new Map<string, string>();
  const throttle = new Throttle({
    clock: { now: () => 0, elapsed: () => now },
    connectionsPerHost: 100,
    ratePerOperator: 0,
    networkFactor: 4,
    breakerSeconds: 60,
    egresses: labEgresses([]),
    rests: new EgressRests([], { now: () => 0, elapsed: () => now }, 60_000, () => Promise.resolve('unknown')),
    dialogues: 1_000,
    shared: null,
    askOperator: () => {},
    ...options,
  });
  const enter = (request: Partial<PermitRequest> & { readonly mayShare?: boolean } = {}) => {
    const { operator = 'a', host = `mx.${operator}.test` } = request;
    const own = addresses.get(host) ?? `192.${addresses.size >> 8}.${addresses.size & 255}.1`;
    addresses.set(host, own);
    const { address = own, domain = `${operator}.test` } = request;
    const egress = throttle.chooseEgress({ operator: () => operator, domain, address, kept: null });
    const destination = { operator, host, address, domain, egress };
    const permits: Permit[] = [];
    const { tenant = 't', startByMs = now + 3_600_000, mayShare = true } = request;
    const withdraw = throttle.acquire({ tenant, startByMs, ...destination }, mayShare, (permit) =>
      permits.push(permit),
    );
    const lease = () => (permits[0]?.kind === 'go' ? permits[0].lease : undefined);
    return {
      leave: () => withdraw?.(),
      get kind() {
        return permits[0]?.kind ?? 'waits';
      },
      get permit() {
        return permits[0];
      },
      get lease() {
        return lease();
      },
      release: () => lease()?.release(),
      /** The server answered the recipient. */
      answered() {
        lease()?.answered();
        lease()?.release();
      },
      /** The server rejected our IP address: at once, or when the recipient was named. */
      refused({ isForDomain = false } = {}) {
        lease()?.release();
        throttle.refused({ where: destination, account: accountOfTenant(tenant), isForDomain });
      },
    };
  };
  return {
    throttle,
    enter,
    pass: (ms: number) => {
      // In steps, because timers read the clock.
      for (let left = ms; left > 0; left -= 100) {
        now += Math.min(100, left);
        vi.advanceTimersByTime(Math.min(100, left));
      }
    },
  };
}

export const kinds = (...entries: { kind: string }[]) => entries.map(({ kind }) => kind);
