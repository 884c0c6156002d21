import { ApiError } from '../kernel/errors.ts';
import { POLICIES_MAX } from '../kernel/facts/limits.ts';
import { NO_RULES, type PolicyRules } from '../kernel/facts/policies.ts';
import { lockExistingAccount } from './account-rows.ts';
import type { StorageDriver } from './driver.ts';
import { changesBetween, writeAudit } from './people/audit-log.ts';
import { accountId, countOf, storable } from './rows.ts';
import type { AccountId, Store, StoredPolicy } from './store.ts';
import type { Row } from './tables.ts';

/** What an earlier version did not know is accepted. */
function toPolicy(row: Row<'policies'>): StoredPolicy {
  const rules: Partial<PolicyRules> = JSON.parse(row.rules);
  return {
    ...NO_RULES,
    ...rules,
    signals: { ...NO_RULES.signals, ...rules.signals },
    name: row.name,
    createdAt: row.created_at,
    changedAt: row.changed_at,
  };
}

const rulesOf = ({ signals, level, timeoutMs, onOutage, messages }: PolicyRules): PolicyRules => ({
  signals,
  level,
  timeoutMs,
  onOutage,
  messages,
});

/** What differs, for the audit log: `{"signals.role": {"from": "accept", "to": "reject"}}`. */
const changesIn = (before: PolicyRules, after: PolicyRules) => changesBetween(flatRules(before), flatRules(after));

function flatRules({ signals, level, timeoutMs, onOutage, messages }: PolicyRules): Record<string, string | number> {
  const texts = Object.entries(messages).flatMap(([ground, of = {}]) =>
    Object.entries(of).map(([language, text]) => [`messages.${ground}.${language}`, text] as const),
  );
  return Object.fromEntries<string | number>([
    ...Object.entries(signals).map(([signal, action]) => [`signals.${signal}`, action] as const),
    ['validation_type', level],
    ['timeout_ms', timeoutMs],
    ['on_outage', onOutage],
    ...texts,
  ]);
}

export function policies(driver: StorageDriver): Store['policies'] {
  const { db } = driver;
  const of = (account: AccountId) => db.selectFrom('policies').selectAll().where('account_id', '=', account);

  return {
    async list(account) {
      return (await of(account).orderBy('name').execute()).map(toPolicy);
    },

    async get(account, name) {
      const row = await of(account).where('name', '=', name).executeTakeFirst();
      return row === undefined ? null : toPolicy(row);
    },

    async accountOfKey(keyHash) {
      const row = await db.selectFrom('keys').select('account_id').where('hash', '=', keyHash).executeTakeFirst();
      return row === undefined ? null : accountId(row.account_id);
    },

    async put(account, { name, ...rules }, by) {
      const now = await driver.now();
      const text = storable(JSON.stringify(rulesOf(rules)));
      return driver.transaction(async (trx) => {
        await lockExistingAccount(driver, trx, account);
        const all = trx.selectFrom('policies').selectAll().where('account_id', '=', account);
        const before = await all.where('name', '=', name).executeTakeFirst();
        const row = { account_id: account, name, rules: text, created_at: before?.created_at ?? now, changed_at: now };
        if (before === undefined) {
          if ((await countOf(all)) >= POLICIES_MAX)
            throw new ApiError('too_many_policies', undefined, { limit: POLICIES_MAX });
          await trx.insertInto('policies').values(row).execute();
        } else {
          const mine = trx.updateTable('policies').set(row).where('account_id', '=', account);
          await mine.where('name', '=', name).execute();
        }
        const changes = changesIn(before === undefined ? NO_RULES : toPolicy(before), rules);
        const action = before === undefined ? 'policy.created' : 'policy.changed';
        // Saving what is there already is no event.
        if (before === undefined || changes !== null)
          await writeAudit(trx, account, now, by, { action, target: name, detail: { changes: changes ?? {} } });
        return { created: before === undefined, policy: toPolicy(row) };
      });
    },

    async remove(account, name, by) {
      const now = await driver.now();
      return driver.transaction(async (trx) => {
        await lockExistingAccount(driver, trx, account);
        const mine = trx.deleteFrom('policies').where('account_id', '=', account).where('name', '=', name);
        const row = await mine.returningAll().executeTakeFirst();
        if (row === undefined) return false;
        const detail = { changes: changesIn(toPolicy(row), NO_RULES) ?? {} };
        await writeAudit(trx, account, now, by, { action: 'policy.deleted', target: name, detail });
        return true;
      });
    },
  };
}
