import type { StorageDriver } from '../driver.ts';
import type { Store } from '../store.ts';

/** When several nodes create it at once, the first one written counts for all. */
export function secret({ db }: StorageDriver): Store['secret'] {
  const kept = async (name: string): Promise<string | null> =>
    (await db.selectFrom('secrets').select('value').where('name', '=', name).executeTakeFirst())?.value ?? null;

  return async (name, make) => {
    const known = await kept(name);
    if (known !== null) return known;
    await db
      .insertInto('secrets')
      .values({ name, value: make() })
      .onConflict((oc) => oc.doNothing())
      .execute();
    const written = await kept(name);
    if (written === null) throw new Error(`The secret ${name} was not kept.`);
    return written;
  };
}

/** See `Store.forgetSecret`. */
export const forgetSecret =
  ({ db }: StorageDriver): Store['forgetSecret'] =>
  async (name, value) => {
    await db.deleteFrom('secrets').where('name', '=', name).where('value', '=', value).execute();
  };
