import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import rules from '../../../data/mailbox-rules.json' with { type: 'json' };
import { mailboxOf } from './mailbox.ts';

const samples = rules.flatMap((rule) =>
  rule.samples.map(([address = '', mailbox = '']) => [address, mailbox] as const),
);

describe('mailboxOf', () => {
  it.each(samples)('%s → %s, the sample of its provider', (address, mailbox) => {
    expect(mailboxOf(address)).toBe(mailbox);
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
  ])('%s → %s', (address, mailbox) => expect(mailboxOf(address)).toBe(mailbox));

  it('is its own mailbox, and never throws', () => {
    const local = fc.string({ unit: fc.constantFrom(...'aB.+-_"\\ é@'), maxLength: 12 });
    const domain = fc.constantFrom('good.com', 'gmail.com', 'x.fastmail.com', 'pm.me', 'yahoo.com', 'ya.ru', '', 'x');
    fc.assert(
      fc.property(local, domain, (before, after) => {
        const mailbox = mailboxOf(`${before}@${after}`);
        expect(mailboxOf(mailbox)).toBe(mailbox);
      }),
      { numRuns: 1000 },
    );
  });
});
