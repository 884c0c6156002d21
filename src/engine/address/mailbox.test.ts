import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import rules from '../../../data/mailbox-rules.json' with { type: 'json' };
import { mailboxAt, mailboxOf } from './mailbox.ts';
import { parseAddress } from './parse.ts';

const samples = rules.flatMap(({ name, samples, hosts }) =>
  samples.map(([address = '', mailbox = '']) => [address, mailbox, name, hosts?.[0] ?? null] as const),
);

function mailbox(email: string, host: string | null = null) {
  const parsed = parseAddress(email, { allowReserved: true });
  return parsed.ok ? mailboxAt(parsed.address, host) : null;
}

describe('mailboxOf', () => {
  it.each(samples)('%s → %s, the sample of %s', (address, expected, name, host) => {
    const changed = expected === address.toLowerCase() ? null : name;
    expect(mailbox(address, host)).toEqual({ address: expected, rule: changed });
  });

  it('has a source, and samples, for every rule', () => {
    for (const { source, samples: of } of rules) expect([source, of.length > 0]).toEqual([expect.any(String), true]);
    expect(new Set(rules.map(({ name }) => name)).size).toBe(rules.length);
  });

  it.each([
    ['Jane.Doe+x@good.com', null, 'jane.doe@good.com', 'tag'],
    ['Jane.Doe@good.com', null, 'jane.doe@good.com', null],
    ['Jane.Doe+x@good.com', 'google', 'jane.doe@good.com', 'google-workspace'],
    ['Jane.Doe@good.com', 'google', 'jane.doe@good.com', null],
    ['j-ane+x@good.com', 'proton', 'j-ane@good.com', 'tag'],
    ['jane+x@hotmail.se', null, 'jane@hotmail.se', 'outlook.com'],
    ['jane+x@gmx.ch', 'gmx/web.de', 'jane+x@gmx.ch', null],
    ['jane-x@yahoo.com.br', null, 'jane@yahoo.com.br', 'yahoo.com'],
    ['jane-x@good.com', 'yahoo', 'jane-x@good.com', null],
    ['shop@jane.mozmail.com', null, 'jane@jane.mozmail.com', 'relay.firefox.com'],
    ['jane@mozmail.com', null, 'jane@mozmail.com', null],
    ['j.ane@gmail.com', 'some other', 'jane@gmail.com', 'gmail.com'],
  ])('%s with mail hosts of %s → %s by %s', (email, host, address, rule) => {
    expect(mailbox(email, host)).toEqual({ address, rule });
  });

  // What is remembered of a mailbox has to be found again without DNS.
  it('has one address whatever is known of its mail hosts', () => {
    const hosts = rules.flatMap(({ hosts: of = [] }) => of);
    expect(hosts.length).toBeGreaterThan(2);
    const own = ['J.ane+x@good.com', 'jane-x@good.com', 'shop@jane.good.com', '+@good.com', '"j ane+x"@good.com'];
    for (const email of [...own, ...samples.map(([address]) => address)])
      for (const host of hosts) expect(mailbox(email, host)?.address, host).toBe(mailbox(email)?.address);
  });

  it('is for every pair of people that a rule does not name two', () => {
    const names = ['jane', 'j.ane', 'jan-e', 'jane_'];
    const domains = ['good.com', 'example.org', 'yahoo.de', 'hotmail.com', 'hotmail.fr', 'outlook.com', 'web.de'];
    const all = domains.flatMap((domain) => names.map((name) => `${name}@${domain}`));
    const apart = all.filter((one) => !one.includes('-e@yahoo'));
    expect(new Set(apart.map(mailboxOf)).size).toBe(apart.length);
  });

  it.each([
    ['Jane.Doe+news+x@Example.com', 'jane.doe@example.com'],
    // Elsewhere dots and hyphens make a difference.
    ['j.ane-doe@good.com', 'j.ane-doe@good.com'],
    ['jane@mail.gmail.com', 'jane@mail.gmail.com'],
    ['+jane@good.com', '+jane@good.com'],
    ['"jane+x"@good.com', 'jane@good.com'],
    ['"jane doe+x"@good.com', '"jane doe+x"@good.com'],
    ['jane+x@EXÄMPLE.com', 'jane@xn--exmple-cua.com'],
    ['jane+x@shop.internal', 'jane@shop.internal'],
    ['Nobody', 'nobody'],
    // Not an address, also where the provider ignores dots.
    ['."A"@pm.me', '."a"@pm.me'],
    ['', ''],
  ])('%s → %s', (address, expected) => expect(mailboxOf(address)).toBe(expected));

  it('is its own mailbox, and never throws', () => {
    const local = fc.string({ unit: fc.constantFrom(...'aB.+-_"\\ é@'), maxLength: 12 });
    const domain = fc.constantFrom('good.com', 'gmail.com', 'x.fastmail.com', 'pm.me', 'yahoo.com', 'ya.ru', '', 'x');
    fc.assert(
      fc.property(local, domain, (before, after) => {
        const found = mailboxOf(`${before}@${after}`);
        expect(mailboxOf(found)).toBe(found);
      }),
      { numRuns: 1000 },
    );
  });
});
