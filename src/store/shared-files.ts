import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { StorageDriver } from './driver.ts';
import type { Store } from './store.ts';

const pack = promisify(gzip);
const unpack = promisify(gunzip);
const MAX_BYTES = 64 * 1024 * 1024;

/** Prefixes are constants of the program, so they have no wildcards. */
export function sharedFiles({ db }: Pick<StorageDriver, 'db'>): Store['sharedFiles'] {
  return {
    list: (prefix) =>
      db
        .selectFrom('shared_files')
        .select(['name', 'made'])
        .where('name', 'like', `${prefix}%`)
        .orderBy('name')
        .execute(),
    async read(name) {
      const row = await db.selectFrom('shared_files').selectAll().where('name', '=', name).executeTakeFirst();
      if (row === undefined) return null;
      const bytes = await unpack(Buffer.from(row.content, 'base64'), { maxOutputLength: MAX_BYTES });
      return { name, made: row.made, text: bytes.toString('utf8') };
    },
    async put({ name, made, text }) {
      const content = (await pack(text)).toString('base64');
      const row = await db
        .insertInto('shared_files')
        .values({ name, made, content })
        .onConflict((conflict) =>
          conflict.column('name').doUpdateSet({ made, content }).where('shared_files.made', '<', made),
        )
        .returning('name')
        .executeTakeFirst();
      return row !== undefined;
    },
    async drop(prefix) {
      await db.deleteFrom('shared_files').where('name', 'like', `${prefix}%`).execute();
    },
  };
}
