import { expect, it } from 'vitest';
import { type SpoolSpace, spool } from './spool.ts';

const MiB = 1 << 20;
async function* blocks(count: number) {
  for (let n = 0; n < count; n++) yield Buffer.alloc(MiB, n);
}

it('temporary files share the room of the process, which each gives back when it is closed', async () => {
  const space: SpoolSpace = { bytes: 5 * MiB, used: 0 };
  const first = await spool(blocks(3), space);
  const full = { code: 'overloaded', details: { retry_after: 30 } };
  await expect(spool(blocks(3), space)).rejects.toMatchObject(full);
  // What was written before there was no room left is given back, and what is small stays in memory.
  expect(space.used).toBe(3 * MiB);
  expect((await spool(blocks(1), space)).sizeBytes).toBe(MiB);
  expect(await first.read(2 * MiB, 2)).toEqual(Buffer.alloc(2, 2));
  await first.close();
  expect(space.used).toBe(0);
  await (await spool(blocks(5), space)).close();
});
