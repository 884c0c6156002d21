import type { FastifyRequest } from 'fastify';
import { type Parsed, refused } from '../../contract/schema.ts';
import { USAGE_GROUPINGS } from '../../contract/usage.ts';
import { fromIso } from '../../kernel/clock.ts';
import type { UsageAsk } from '../../service/usage.ts';
import type { HttpContext } from '../context.ts';
import type { KeyedRoute } from '../guard.ts';
import { one, word } from '../query.ts';

function instant(query: Record<string, unknown>, field: string): Parsed<number | null> {
  const text = one(query, field);
  if (!text.ok || text.value === null) return text as Parsed<null>;
  const ms = fromIso(text.value);
  if (ms !== null) return { ok: true, value: ms };
  return refused('invalid_parameter', `${field} must be a date such as 2026-11-01 or 2026-11-01T00:00:00Z.`, { field });
}

function readUsage(request: FastifyRequest): Parsed<UsageAsk> {
  const sent = request.query as Record<string, unknown>;
  const groupBy = word(sent, 'group_by', USAGE_GROUPINGS);
  if (!groupBy.ok) return groupBy;
  const from = instant(sent, 'from');
  if (!from.ok) return from;
  const to = instant(sent, 'to');
  if (!to.ok) return to;
  if (from.value !== null && to.value !== null && from.value >= to.value) {
    return refused('invalid_parameter', 'from must be before to.', { field: 'from' });
  }
  return { ok: true, value: { groupBy: groupBy.value, from: from.value, to: to.value } };
}

export const showUsage = (context: HttpContext): KeyedRoute<UsageAsk> => ({
  idempotentAs: null,
  read: readUsage,
  async serve(ask, { caller, window }) {
    return { status: 200, body: await context.usage(caller, window, ask) };
  },
});
