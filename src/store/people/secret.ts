import type { Engine } from '../engine.ts';
import type { Store } from '../store.ts';

/** Of several nodes that make it at once, the first to write it is right for all. */
export function secret({ db }: Engine): Store['secret'] {
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
