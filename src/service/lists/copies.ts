/** New lists from the rows of another one: those whose result is unknown, or all with other columns. */
import { addressIn } from '../../files/address-cell.ts';
import { numberedColumns } from '../../files/columns.ts';
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
  /**
   * Replaces a list that is ready by one with another address column. `column`: its number, from 1. `header`: whether
   * the first row of the file has the names. Throws ApiError `list_state`, `no_address_column`.
   */
  setColumn(account: AccountId, id: string, to: { column: number; header: boolean }, by: Actor): Promise<List>;
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
  /** What the new list has before the rows of the source. */
  readonly before?: readonly string[] | undefined;
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
    const { account, patienceMinutes } = source;
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
        patienceMinutes,
        layout,
      });
      const writer = new BlockWriter(lists, { account, id, room, received: null });
      await writeRows(writer, copy);
      const list = await lists.finish(account, id, writer.counts, by);
      if (list === null) throw uploadGivenUp();
      return list;
    } catch (error) {
      await lists.discard(account, id);
      throw error;
    } finally {
      place.release();
    }
  }

  async function writeRows(writer: BlockWriter, { source, layout, before, keep }: Copy): Promise<void> {
    let rows = 0;
    const add = async ({ cells, extra, problem }: Pick<ListRow, 'cells' | 'extra' | 'problem'>) => {
      rows += 1;
      const address = problem === null ? addressIn(cells[layout.addressColumn] ?? '') : null;
      if (writer.add({ row: rows, cells, extra, address, problem })) await writer.store();
    };
    if (before !== undefined) await add({ cells: before, extra: [], problem: null });
    for await (const block of blocksOf(lists, source))
      for (const entry of entriesOf(source, block)) if (keep(entry)) await add(entry.row);
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

    async setColumn(account, id, { column, header }, by) {
      const source = await find(account, id);
      const { name, level, layout } = source;
      await checkPlan(account, null, level);
      if (source.status !== 'ready') throw state(source, 'its column can be changed before it is started');
      if (column > layout.columns.length) throw noColumn(column, layout.columns);
      const [first] = header && !layout.hasHeader ? await rowsAfter(source, 0, 1) : [];
      const names = first?.cells ?? (header ? layout.columns : numberedColumns(layout.columns.length));
      const address = column - 1;
      const columns = header ? names : names.with(address, 'email');
      const before = layout.hasHeader && !header ? layout.columns : undefined;
      const keep = ({ row }: RowEntry) => row.row !== first?.row;
      const changed = { ...layout, columns, addressColumn: address, hasHeader: header };
      const list = await copied({ source, name, level, layout: changed, before, keep }, by);
      const { outcome } = await lists.change(account, id, 'delete', by);
      if (outcome === 'done') return list;
      // Started or deleted meanwhile.
      await lists.change(account, list.id, 'delete', by);
      throw state(await find(account, id), 'its column can be changed before it is started');
    },

    firstRows: async (account, id) => rowsAfter(await find(account, id), 0, FIRST_ROWS),
  };

  async function rowsAfter({ account, id }: List, after: number, count: number): Promise<ListRow[]> {
    return (await lists.block(account, id, after))?.rows.slice(0, count) ?? [];
  }
}

const state = ({ status }: List, why: string): ApiError =>
  new ApiError('list_state', `The list is ${status}; ${why}.`, { status });

const noColumn = (column: number, columns: readonly string[]): ApiError =>
  new ApiError('no_address_column', `There is no column ${column}.`, { field: 'column', columns });
