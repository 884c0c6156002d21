import { expect, it } from 'vitest';
import { totp } from './second-factor.ts';

// RFC 6238 appendix B, SHA-1, its last six digits.
it.each([
  [59, '287082'],
  [1_111_111_109, '081804'],
  [20_000_000_000, '353130'],
])('generates the code of the RFC at %i s', (seconds, code) => {
  expect(totp('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ', 0, seconds * 1000)).toBe(code);
});
