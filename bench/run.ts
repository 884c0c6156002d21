/**
 * `npm run bench [-- NAME …]`: runs all benchmarks, or those named, and updates results.md. All of them take about ten
 * minutes; nothing leaves this machine.
 */

import { type Bench, record } from './apparatus/results.ts';
import { disk } from './disk.ts';
import { disposable } from './disposable.ts';
import { engine } from './engine.ts';
import { files } from './files.ts';
import { filters } from './filters.ts';
import { growth } from './growth.ts';
import { http } from './http.ts';
import { lists } from './lists.ts';
import { mailReports } from './mail-reports.ts';
import { memory } from './memory.ts';
import { neighbors } from './neighbors.ts';
import { outcomes } from './outcomes.ts';
import { postgresNodes } from './postgres.ts';
import { replies } from './replies.ts';
import { silentResolver } from './resolver-silent.ts';
import { slowDisk } from './slow-disk.ts';
import { smtp } from './smtp.ts';
import { smtpMemory } from './smtp-memory.ts';
import { smtpReuse } from './smtp-reuse.ts';
import { smtpTarpit } from './smtp-tarpit.ts';
import { startUp } from './start.ts';
import { web } from './web.ts';

/** In the order of results.md. */
const BENCHES: readonly Bench[] = [
  http,
  postgresNodes,
  slowDisk,
  neighbors,
  engine,
  startUp,
  web,
  memory,
  disk,
  lists,
  disposable,
  files,
  filters,
  growth,
  smtp,
  smtpReuse,
  smtpMemory,
  smtpTarpit,
  silentResolver,
  replies,
  mailReports,
  outcomes,
];

const named = process.argv.slice(2);
const unknown = named.filter((name) => !BENCHES.some((bench) => bench.name === name));
if (unknown.length > 0) {
  console.error(`Unknown benchmark: ${unknown.join(', ')}. Available: ${BENCHES.map(({ name }) => name).join(', ')}.`);
  process.exit(2);
}

const titles = BENCHES.map(({ title }) => title);
for (const bench of BENCHES) {
  if (named.length > 0 && !named.includes(bench.name)) continue;
  const began = performance.now();
  const finding = await bench.run();
  console.log(`${record(bench.title, finding, titles)}\n\n(${Math.round((performance.now() - began) / 1000)} s)\n`);
}
process.exit(0);
