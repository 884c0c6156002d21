import { expect, it } from 'vitest';
import { totpCode } from './authenticators.ts';

// RFC 6238 appendix B, SHA-1, its last six digits.
it.each([
  [59, '287082'],
  [1_111_111_109, '081804'],
  [20_000_000_000, '353130'],
])('shows the code of the RFC at %i s', (seconds, code) => {
  expect(totpCode('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ', seconds * 1000)).toBe(code);
});
