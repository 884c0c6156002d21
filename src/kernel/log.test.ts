import { describe, expect, it } from 'vitest';
import { shownAddress } from './log.ts';

describe('addresses in the log', () => {
  it.each([
    ['jane.doe@example.com', '*@example.com'],
    ['"a@b"@example.com', '*@example.com'],
    ['jane.doe', '*'],
    ['', '*'],
  ])('shows of %j only the domain: %j', (email, shown) => {
    expect(shownAddress(email, 'domain')).toBe(shown);
  });

  it('hashes them without regard to case', () => {
    expect(shownAddress('Jane@example.com', 'hash')).toMatch(/^[0-9a-f]{16}$/);
    expect(shownAddress('Jane@example.com', 'hash')).toBe(shownAddress('jane@example.com', 'hash'));
  });
});
