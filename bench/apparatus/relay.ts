/** `mailvet relay` as a process of its own, on loopback. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { keep } from './children.ts';
import type { MailboxLoad } from './mailbox-load.ts';

const CLI = fileURLToPath(new URL('../../bin/mailvet.mjs', import.meta.url));
const certificate = (name: string) =>
  fileURLToPath(new URL(`../../tests/lab/certificate/socks${name}.pem`, import.meta.url));
const PASSWORD = 'only-the-benchmark-knows';

interface RelayProcess {
  readonly pid: number;
  readonly via: NonNullable<MailboxLoad['via']>;
  stop(): Promise<void>;
}

/** To mail servers at this port; with its log, which nobody keeps. */
export async function startRelayProcess(port: number, tls: boolean): Promise<RelayProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'mailvet-bench-relay-'));
  const token = join(folder, 'token');
  writeFileSync(token, PASSWORD, { mode: 0o600 });
  const secure = tls ? ['--tls-cert', certificate(''), '--tls-key', certificate('-key')] : ['--insecure'];
  const flags = ['--json', '--listen', '127.0.0.1:0', '--health-listen', '127.0.0.1:0', '--ports', `${port}`];
  const env = { ...process.env, MAILVET_ALLOW_PRIVATE_NETWORKS: 'true' };
  const child = keep(
    spawn(process.execPath, [CLI, 'relay', ...flags, '--token-file', token, ...secure], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  );
  const lines = createInterface({ input: child.stdout });
  const [line] = await once(lines, 'line');
  lines.close();
  child.stdout.resume();
  const { listen } = JSON.parse(line) as { listen: string };
  const ca = tls ? readFileSync(certificate(''), 'utf8') : null;
  return {
    pid: child.pid ?? 0,
    via: { port: Number(listen.split(':').at(-1)), password: PASSWORD, ca },
    async stop() {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
