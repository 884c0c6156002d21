/** Work on many rows goes in small steps, so that nobody waits long behind one. */

/** Rows in one transaction. */
export const STEP = 500;

/** SQLite works without ever waiting: lets the requests that came meanwhile go first. */
export const breath = (): Promise<void> => new Promise(setImmediate);

/** Repeats a step, which answers how many rows it did, until there are none left; how many in all. */
export async function inSteps(step: () => Promise<number>): Promise<number> {
  let total = 0;
  for (let done = await step(); done > 0; done = await step()) {
    total += done;
    await breath();
  }
  return total;
}
