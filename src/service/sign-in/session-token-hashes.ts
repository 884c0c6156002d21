/**
 * The store holds SHA-256 hashes of session tokens, so that nobody signs in with what a copy of it contains. A token
 * has 190 random bits, so a hash without salt suffices.
 */
import type { BetterAuthPlugin, DBAdapter, DBTransactionAdapter, Where } from 'better-auth';
import { sha256Hex } from '../../kernel/ids.ts';

/** Tokens by their hash: those that the caller of one operation already has. */
type Known = ReadonlyMap<string, string>;

const hashOf = (value: Where['value']): Where['value'] => {
  if (typeof value === 'string') return sha256Hex(value);
  return Array.isArray(value) ? value.map((one) => sha256Hex(String(one))) : value;
};

const hashedWhere = (where: Where[]): Where[] =>
  where.map((condition) =>
    condition.field === 'token' ? { ...condition, value: hashOf(condition.value) } : condition,
  );

function knownFrom(where: readonly Where[]): Known {
  const tokens = where.flatMap(({ field, value }) => (field === 'token' ? [value].flat() : []));
  return new Map(tokens.filter((one) => typeof one === 'string').map((token) => [sha256Hex(token), token]));
}

/** The row as the library expects it: with the token by which it asked. Rows found otherwise keep the hash. */
function withToken<Row>(row: Row, known: Known): Row {
  if (typeof row !== 'object' || row === null || !('token' in row) || typeof row.token !== 'string') return row;
  return { ...row, token: known.get(row.token) ?? row.token };
}

function hashing(adapter: DBTransactionAdapter): DBTransactionAdapter {
  /** The same input with hashes, and the way back; unchanged for other tables. */
  function translate<Input extends { model: string; where: Where[] }>(input: Input): { input: Input; known: Known } {
    if (input.model !== 'session') return { input, known: new Map() };
    return { input: { ...input, where: hashedWhere(input.where) }, known: knownFrom(input.where) };
  }
  return {
    ...adapter,
    async create(call) {
      const token = call.model === 'session' && 'token' in call.data ? call.data.token : null;
      if (typeof token !== 'string') return adapter.create(call);
      const hash = sha256Hex(token);
      return withToken(
        await adapter.create({ ...call, data: { ...call.data, token: hash } }),
        new Map([[hash, token]]),
      );
    },
    async findOne(call) {
      const { input, known } = translate(call);
      return withToken(await adapter.findOne(input), known);
    },
    async findMany<Row>(call: Parameters<DBAdapter['findMany']>[0]) {
      const { input, known } = translate({ ...call, where: call.where ?? [] });
      const rows = await adapter.findMany<Row>(input);
      return rows.map((row) => withToken(row, known));
    },
    async update(call) {
      const { input, known } = translate(call);
      return withToken(await adapter.update(input), known);
    },
    async consumeOne(call) {
      const { input, known } = translate(call);
      return withToken(await adapter.consumeOne(input), known);
    },
    async incrementOne(call) {
      const { input, known } = translate(call);
      return withToken(await adapter.incrementOne(input), known);
    },
    updateMany: (call) => adapter.updateMany(translate(call).input),
    delete: (call) => adapter.delete(translate(call).input),
    deleteMany: (call) => adapter.deleteMany(translate(call).input),
    count: (call) => adapter.count(translate({ ...call, where: call.where ?? [] }).input),
  };
}

const hashingTokens = (adapter: DBAdapter): DBAdapter => ({
  ...adapter,
  ...hashing(adapter),
  transaction: (work) => adapter.transaction((trx) => work(hashing(trx))),
});

/** First of the plug-ins, because others may keep the adapter that they are given. */
export const sessionTokenHashes = {
  id: 'mailvet-session-token-hashes',
  init: ({ adapter }) => ({ context: { adapter: hashingTokens(adapter) } }),
} satisfies BetterAuthPlugin;
