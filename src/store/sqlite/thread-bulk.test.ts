/** When the transactions of a list are flushed, on a connection of this thread. */
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { describeStores, ENGINE } from '../../../tests/lab/stores.ts';
import { member } from '../../../tests/store/cast.ts';
import { addressesOf, claimWith, found, startedList } from '../../../tests/store/list-cast.ts';
import { JOB_POLICIES } from '../../kernel/jobs.ts';
import { openConnection } from './connection.ts';
import { writeOutcomes } from './outcomes-message.ts';
import { pathOf } from './path.ts';
import { bulkTransactionsOn } from './thread-bulk.ts';

/** https://www.sqlite.org/pragma.html#pragma_synchronous */
const FULL = 2;

describeStores('results of a list', (lab) => {
  it.skipIf(ENGINE !== 'sqlite')(
    'leave the flush to a later commit until the last of them, and none to charges',
    async () => {
      const store = await lab.open();
      const who = await member(store);
      const list = await startedList(store, who, addressesOf(3));
      const [one, two, three] = await claimWith(store, who, list, 'lease');
      const db = openConnection(pathOf(lab.url), 'writer');
      const log: string[] = [];
      const exec = DatabaseSync.prototype.exec;
      db.exec = (sql) => {
        log.push(sql);
        exec.call(db, sql);
      };
      const bulk = bulkTransactionsOn(db, { now: lab.clock.now(), retentionDays: 30, policies: JOB_POLICIES });
      const record = (works: (typeof one)[], id = list) => {
        log.length = 0;
        const outcomes = works.flatMap((work) => (work === undefined ? [] : [found(work)]));
        return bulk.record(who.account.id, id, writeOutcomes(outcomes));
      };
      const level = () => db.prepare('PRAGMA synchronous').get()?.synchronous;

      await expect(record([one])).resolves.toMatchObject({ outcome: 'recorded', recorded: 1 });
      expect(log).toEqual(['PRAGMA synchronous = NORMAL', 'BEGIN IMMEDIATE', 'COMMIT', 'PRAGMA synchronous = FULL']);
      expect(level()).toBe(FULL);

      await expect(record([two], 'lst_other')).resolves.toMatchObject({ outcome: 'ended' });
      expect(level()).toBe(FULL);

      await expect(record([two, three])).resolves.toMatchObject({ outcome: 'completed', recorded: 2 });
      expect(log.slice(2)).toEqual(['COMMIT', 'PRAGMA synchronous = FULL', expect.stringMatching(/^UPDATE/)]);
      expect(level()).toBe(FULL);
      db.close();
    },
  );
});
