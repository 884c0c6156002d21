/**
 * `npm run lab`: starts the laboratory of real mail servers and a service that uses it, and prints how to try it.
 * Ctrl-C stops and removes everything.
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
  options: { port: { type: 'string', default: '8125' }, egress: { type: 'string', default: 'fit' } },
});
const egress = values.egress === 'unfit' ? 'unfit' : 'fit';

const missing = missingPackages().filter(({ tests }) => tests === LABORATORY);
if (!isDebianRoot()) {
  console.error(
    'The laboratory must run as root on Debian (a container works); its servers drop privileges themselves.',
  );
  process.exit(1);
}
if (missing.length > 0 && !installMissing(missing)) process.exit(1);

const began = performance.now();
const laboratory = await startLaboratory();
const dir = mkdtempSync(join(tmpdir(), 'mailvet-lab-service-'));
const environment = laboratory.options(egress);
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
const { value: key } = await createKey(service.store, account.id, { name: 'laboratory', allowIps: [] });

const outcome = ({ yields }: Row) => [yields.status, yields.deliverability, yields.reason ?? ''].join(' ');
for (const row of TABLE.filter((one) => (one.egress ?? 'fit') === egress)) {
  console.log(`${row.email.padEnd(38)} ${outcome(row).padEnd(40)} ${row.server}`);
}
const settings = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
const { net, port, dns } = laboratory;
console.log(`
Up after ${((performance.now() - began) / 1000).toFixed(1)} s. Try any address above, or others:

  curl -s '${service.url}/v1/verify?evidence=1' -H 'Authorization: Bearer ${key}' \\
    -H 'Content-Type: application/json' -d '{"email": "anna@plain.test", "validation_type": "smtp"}'

Without the service:   env ${settings.join(' ')} \\
                         bin/mailvet.mjs verify --smtp anna@plain.test
By hand:               dig @${dns.replace(/:.*/, '')} plain.test MX      telnet ${net}.1 ${port}
The servers' logs:     ${laboratory.dir}/log/
Press Ctrl-C to stop.`);

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
