/** A fault in a handler of the engine costs a check, and never the process that the library runs in. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { ROOT } from '../../scripts/fresh.mjs';
import { handlersIn, isEngine } from '../handlers.ts';
import { allSources } from '../syntax.ts';

/** How many handlers of a file no scenario reaches. */
const UNREACHED: Readonly<Record<string, number>> = {
  // A server that lies is asked again after 10 s.
  'src/engine/dns/trust.ts': 1,
  // A port that is open for UDP and closed for TCP; and no descriptors left, which descriptors.test.ts has.
  'src/engine/dns/transport.ts': 2,
  // A rest of an egress, which takes a minute.
  'src/engine/smtp/egress-rest.ts': 1,
  // A trunk that nobody has used for 10 s.
  'src/engine/smtp/trunk.ts': 1,
  // A server that answers, but not to QUIT.
  'src/engine/smtp/connectivity-probe.ts': 1,
};

interface Result {
  readonly scenario: string;
  readonly outcome: string;
  readonly escaped: readonly string[];
}
let results: Record<string, Result>;
beforeAll(() => {
  const lab = join(ROOT, 'tests/lab');
  const args = ['--no-warnings', '--import', join(lab, 'faults-hook.mjs'), join(lab, 'faulty-engine.ts')];
  results = JSON.parse(execFileSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8', timeout: 400_000 }));
}, 420_000);

it('reaches every handler', () => {
  const all = allSources()
    .filter(isEngine)
    .flatMap((source) => handlersIn(source).contained);
  const missed: Record<string, number> = {};
  for (const place of all) {
    const [file = ''] = place.split(':');
    if (!Object.hasOwn(results, place)) missed[file] = (missed[file] ?? 0) + 1;
  }
  expect(missed).toEqual(UNREACHED);
});

it('ends the check that the handler worked on, and nothing escapes', () => {
  const wrong = Object.entries(results).filter(([, { outcome, escaped }]) => outcome !== 'ended' || escaped.length > 0);
  expect(wrong).toEqual([]);
});
