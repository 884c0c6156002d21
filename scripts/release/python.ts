import { spawnSync } from 'node:child_process';

/** The first Python that can build the client in Python: that of the PATH, or that of the system; null if none can. */
export const pythonWithHatchling = (): string | null =>
  ['python3', '/usr/bin/python3'].find(
    (name) => spawnSync(name, ['-c', 'import hatchling'], { stdio: 'ignore' }).status === 0,
  ) ?? null;
