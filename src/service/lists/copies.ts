/** New lists from the rows of another one: those whose result is unknown. */
import type { Clock } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors.ts';
import { NAME_LENGTH } from '../../kernel/facts/limits.ts';
import type { Level, Plan } from '../../kernel/facts/plans.ts';
import { newId } from '../../kernel/ids.ts';
import { DASHBOARD_KEY } from '../../kernel/log-origins.ts';
import type { AccountId, Actor, List, ListLayout, ListRow, Lists } from '../../store/store.ts';
import type { Costs } from '../costs.ts';
import { BlockWriter, uploadGivenUp } from './block-writer.ts';
import { blocksOf, entriesOf, type RowEntry } from './results.ts';

export interface CopyRequests {
  /**
   * Starts a new list of the rows whose address is unknown. What prevents its start becomes its `error`. Throws
   * ApiError `list_state` where the list has not ended, or has no such rows.
   */
  retryUnknown(account: AccountId, id: string, level: Level, by: Actor): Promise<List>;
  /** The first rows of the file. */
  firstRows(account: AccountId, id: string): Promise<readonly Pick<ListRow, 'row' | 'cells' | 'problem'>[]>;
}

const ENDED: readonly List['status'][] = ['completed', 'cancelled', 'failed'];
/** Of the preview. */
const FIRST_ROWS = 5;

interface Copy {
  readonly source: List;
  readonly name: string;
  readonly level: Level;
  readonly layout: ListLayout;
  readonly keep: (entry: RowEntry) => boolean;
}

interface Parts {
  readonly lists: Lists;
  readonly clock: Clock;
  readonly find: (account: AccountId, id: string) => Promise<List>;
  /** Throws ApiError `plan_upgrade_required`. */
  readonly checkPlan: (account: AccountId, plan: Plan | null, level: Level) => Promise<void>;
  readonly start: (list: List, by: Actor) => Promise<List>;
  readonly costs: Costs;
}

export function createListCopies({ lists, clock, find, checkPlan, start, costs }: Parts): CopyRequests {
  async function copied(copy: Copy, by: Actor): Promise<List> {
    const { source, name, level, layout } = copy;
    const { account, patienceMinutes, policy } = source;
    const place = await costs.hold('list_upload', account);
    const id = newId('lst', clock.now());
    try {
      const clientIp = by.ip ?? null;
      const room = await lists.create({
        id,
        account,
        keyId: DASHBOARD_KEY,
        clientIp,
        name,
        level,
        policy,
        patienceMinutes,
        layout,
      });
      const append = lists.append.bind(null, account, id);
      const writer = new BlockWriter({ layout, room, append, received: null });
      await writeRows(writer, copy);
      const list = await lists.finish(account, id, writer.counts, { by });
      if (list === null) throw uploadGivenUp();
      return list;
    } catch (error) {
      await lists.discard(account, id);
      throw error;
    } finally {
      place.release();
    }
  }

  async function writeRows(writer: BlockWriter, { source, keep }: Copy): Promise<void> {
    let rows = 0;
    for await (const block of blocksOf(lists, source)) {
      // Of a row with several addresses, those that are kept.
      const kept = [...entriesOf(source, block)].filter(keep);
      for (const [{ cells, extra, problem }, entries] of Map.groupBy(kept, ({ row }) => row)) {
        rows += 1;
        const addresses = entries.flatMap(({ address }) => address ?? []);
        if (writer.add({ row: rows, cells, extra, addresses, problem })) await writer.store();
      }
    }
    await writer.end();
  }

  return {
    async retryUnknown(account, id, level, by) {
      await checkPlan(account, null, level);
      const source = await find(account, id);
      const { status, layout, breakdown } = source;
      if (!ENDED.includes(status)) throw state(source, 'addresses are retried when it has ended');
      if (breakdown.deliverability.unknown === 0) throw state(source, 'and none of its addresses is unknown');
      const name = `Retry of ${source.name}`.slice(0, NAME_LENGTH.max);
      const keep = ({ view }: RowEntry) => view.deliverability === 'unknown';
      return start(await copied({ source, name, level, layout, keep }, by), by);
    },

    firstRows: async (account, id) => rowsAfter(await find(account, id), 0, FIRST_ROWS),
  };

  async function rowsAfter({ account, id }: List, after: number, count: number): Promise<ListRow[]> {
    return (await lists.block(account, id, after))?.rows.slice(0, count) ?? [];
  }
}

const state = ({ status }: List, why: string): ApiError =>
  new ApiError('list_state', `The list is ${status}; ${why}.`, { status });
