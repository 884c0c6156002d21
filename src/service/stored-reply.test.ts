import { expect, it } from 'vitest';
import { storedReply } from './stored-reply.ts';

it('has every check and every field that can be null, whatever the version that stored it had', () => {
  const smtp = { result: 'pass', code: 250 };
  const stored = { email: 'ada@good.com', reason: 'catch_all', checks: { smtp }, extra: 1 };
  expect(storedReply(JSON.stringify(stored))).toMatchObject({
    ...stored,
    decision: null,
    retry_after: null,
    checks: { syntax: { result: 'skipped' }, smtp, catch_all: { result: 'skipped' } },
  });
  const { checks } = storedReply(JSON.stringify({ email: 'ada@good.com' }));
  expect(checks.smtp).toEqual({ result: 'skipped' });
});
