/**
 * `npm run lab`: the laboratory of real mail servers and a service that asks them, left running to play with. Prints
 * how; Ctrl-C ends and removes all of it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readOptions } from '../src/config/read.ts';
import { createLogger } from '../src/kernel/log.ts';
import { startService } from '../src/main.ts';
import { createKey } from '../src/service/keys.ts';
import { startLaboratory } from '../tests/lab/debian/laboratory.ts';
import { type Row, TABLE } from '../tests/lab/debian/table.ts';
import { installMissing, isDebianRoot, LABORATORY, missingPackages } from './debian-packages.mjs';

const { values } = parseArgs({
  options: { port: { type: 'string', default: '8125' }, asker: { type: 'string', default: 'fit' } },
});
const asker = values.asker === 'unfit' ? 'unfit' : 'fit';

const missing = missingPackages().filter(({ tests }) => tests === LABORATORY);
if (!isDebianRoot()) {
  console.error(
    'The laboratory runs as root on Debian (a container will do); its servers drop their rights themselves.',
  );
  process.exit(1);
}
if (missing.length > 0 && !installMissing(missing)) process.exit(1);

const began = performance.now();
const laboratory = await startLaboratory();
const dir = mkdtempSync(join(tmpdir(), 'mailvet-lab-service-'));
const environment = laboratory.options(asker);
const read = readOptions({
  ...environment,
  MAILVET_DATABASE_URL: `sqlite:${join(dir, 'lab.db')}`,
  MAILVET_PORT: values.port,
  MAILVET_LISTS_DIR: join(dir, 'lists'),
  MAILVET_LOG_LEVEL: 'error',
});
if (!read.ok) throw new Error(read.problems.join('\n'));
const service = await startService(read.options, createLogger(read.options.logLevel));
const account = await service.store.accounts.create({
  name: 'laboratory',
  plan: 'enterprise',
  rateLimit: 100_000,
  credits: 1_000_000,
});
const { value: key } = await createKey(service.store.keys, account.id, { name: 'laboratory', allowIps: [] });

const outcome = ({ yields }: Row) => [yields.status, yields.deliverability, yields.reason ?? ''].join(' ');
for (const row of TABLE.filter((one) => (one.asker ?? 'fit') === asker)) {
  console.log(`${row.email.padEnd(38)} ${outcome(row).padEnd(40)} ${row.server}`);
}
const settings = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
const { net, port, dns } = laboratory;
console.log(`
Up after ${((performance.now() - began) / 1000).toFixed(1)} s. Any address above, or one of your own:

  curl -s '${service.url}/v1/verify?evidence=1' -H 'Authorization: Bearer ${key}' \\
    -H 'Content-Type: application/json' -d '{"email": "anna@plain.test", "validation_type": "smtp"}'

Without the service:   env ${settings.join(' ')} \\
                         npx mailvet verify --smtp anna@plain.test
By hand:               dig @${dns.replace(/:.*/, '')} plain.test MX      telnet ${net}.1 ${port}
The servers' logs:     ${laboratory.dir}/log/
Ctrl-C ends it.`);

let ending = false;
async function end() {
  if (ending) return;
  ending = true;
  await service.stop();
  await laboratory.close();
  rmSync(dir, { recursive: true, force: true });
  process.exit(0);
}
process.on('SIGINT', () => void end());
process.on('SIGTERM', () => void end());
