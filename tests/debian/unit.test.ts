/**
 * deploy/systemd/mailvet.service, installed and started by systemd as docs/install.md has it. systemd is the first
 * process of namespaces of its own, and sees this machine's files with changes that are lost. Needs root.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { samplesOf } from '../lab/samples.ts';
import { freePort, ROOT } from './machine.ts';

/** `$1`: an empty folder. */
const BOOT = `
set -e
mount --make-rprivate /
mount -t tmpfs tmpfs "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
cd "$1/root"
# Of this machine's units, only those that come with systemd.
rm -rf etc/systemd/system/* && : > etc/fstab
mkdir old
mount -t proc proc proc
mount --bind proc/sys proc/sys && mount -o remount,ro,bind proc/sys
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs tmpfs run
mount -t tmpfs tmpfs tmp
mount -t tmpfs tmpfs dev
mkdir dev/shm dev/pts
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
for name in null zero full random urandom tty; do cp -a "/dev/$name" dev/; done
# Not chroot: within it, the unit could have no user namespace.
pivot_root . old
umount -l /old
exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --unit=multi-user.target
`;

const sample = (start: string): string => {
  const found = samplesOf('docs/install.md').find(({ code }) => code.startsWith(start));
  if (found === undefined) throw new Error(`docs/install.md has no sample that begins with ${start}`);
  return found.code;
};

describe('the service unit', () => {
  const dir = mkdtempSync(join(tmpdir(), 'mailvet-unit-'));
  /** Here, the package is packed; the other machine sees it too. */
  const packed = join(ROOT, '.cache/unit');
  let systemd: ChildProcess;
  let first = '';
  let url: string;

  /** A shell command on the machine that systemd started. */
  function inside(command: string): string {
    const args = ['--target', first, '--mount', '--pid', '--cgroup', '--ipc', '--uts', '--root', '--wd'];
    return execFileSync('nsenter', [...args, '/bin/sh', '-ec', command], {
      encoding: 'utf8',
      timeout: 120_000,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', CI: '1' },
    });
  }
  const shown = (property: string) => inside(`systemctl show mailvet --value --property ${property}`).trim();

  beforeAll(async () => {
    const port = await freePort();
    rmSync(packed, { recursive: true, force: true });
    mkdirSync(packed, { recursive: true });
    execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', packed], { cwd: ROOT, stdio: 'ignore' });
    url = `http://127.0.0.1:${port}`;
    const args = [
      '--fork',
      '--kill-child',
      '--pid',
      '--mount',
      '--cgroup',
      '--ipc',
      '--uts',
      '/bin/sh',
      '-c',
      BOOT,
      'sh',
    ];
    systemd = spawn('unshare', [...args, dir], { stdio: ['ignore', 'ignore', 'pipe'] });
    let errors = '';
    systemd.stderr?.setEncoding('utf8').on('data', (text: string) => {
      errors += text;
    });
    await vi.waitFor(
      () => {
        first = readFileSync(`/proc/${systemd.pid}/task/${systemd.pid}/children`, 'utf8').trim();
        if (first === '' || spawnSync('kill', ['-0', first]).status !== 0) throw new Error(`no systemd: ${errors}`);
        inside('systemctl is-active multi-user.target');
      },
      { timeout: 60_000, interval: 200 },
    );
    // The file of egresses has the HELO name.
    const more = { MAILVET_PORT: port, MAILVET_DRAIN_SECONDS: 0, MAILVET_SMTP_EGRESS_FILE: '/etc/mailvet-egress.yaml' };
    const lines = Object.entries(more).map(([name, value]) => `${name}=${value}\n`);
    const commands = sample('useradd')
      .replace(/^MAILVET_SMTP_HELO=.*\n/m, lines.join(''))
      .replace('npm install', 'npm install --prefer-offline --no-audit --no-fund');
    inside(`echo '- {name: one, helo: one.example.com}' > /etc/mailvet-egress.yaml; cd '${packed}'; ${commands}`);
    // `enable --now` returns when the service is ready.
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });
  afterAll(() => {
    systemd.kill('SIGKILL');
    rmSync(dir, { recursive: true, force: true });
  });

  it('works under its restrictions: verdicts, lists, dashboard', async () => {
    const status = readFileSync(`/proc/${hostPid()}/status`, 'utf8');
    expect(status).toMatch(/^CapEff:\s0+$[\s\S]*^NoNewPrivs:\s1$[\s\S]*^Seccomp:\s2$/m);
    const [shell, user = '', make = ''] = sample('mailvet()').trim().split('\n');
    const command = (words: string) => JSON.parse(inside(`${shell}\n${words} --json`));
    const session = async () => (await fetch(`${url}/dashboard/session`)).json();
    const shown = (await session()) as { setup_command: string };
    expect(shown.setup_command).toBe(user.replace('mailvet', shell?.match(/runuser.*env/)?.[0] ?? ''));
    const { account, url: link } = JSON.parse(inside(`${shown.setup_command} --json`));
    expect([link, await session()]).toEqual([
      expect.stringMatching(/^https:\/\/verify\.example\.net\/reset-password#token=/),
      expect.objectContaining({ setup_command: null }),
    ]);
    const { key } = command(`${make.replace('acc_…', account)} --test`);
    const call = async (path: string, body?: unknown) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
      return (await fetch(url + path, init)).json() as Promise<{ id: string; status: string }>;
    };
    const email = 'deliverable@example.com';
    expect(await call('/v1/verify', { email, validation_type: 'smtp' })).toMatchObject({
      deliverability: 'deliverable',
    });
    const list = await call('/v1/lists', { emails: [email] });
    await expect.poll(async () => (await call(`/v1/lists/${list.id}`)).status, { timeout: 30_000 }).toBe('completed');
    expect((await fetch(`${url}/`)).status).toBe(200);
  });

  it('its files belong to it alone', () => {
    const files = inside('stat -c "%a %U" /var/lib/mailvet /var/lib/mailvet/*').trim().split('\n');
    expect([...new Set(files)].sort()).toEqual(['600 mailvet', '700 mailvet']);
  });

  it('reads the egress file again on reload, in the same process', async () => {
    const pid = shown('MainPID');
    const names = async () => {
      const { details } = (await (await fetch(`${url}/readyz`)).json()) as {
        details: { egress: { egresses: { name: string }[] } };
      };
      return details.egress.egresses.map(({ name }) => name);
    };
    expect(await names()).toEqual(['one']);
    inside("echo '- {name: two, helo: two.example.com}' > /etc/mailvet-egress.yaml; systemctl reload mailvet");
    await expect.poll(names, { timeout: 30_000 }).toEqual(['two']);
    // Probes are logged at level debug alone.
    const debug = () => inside('journalctl --unit mailvet --priority debug..debug --output cat').trim();
    expect(debug()).not.toContain('/healthz');
    inside('echo MAILVET_LOG_LEVEL=debug >> /etc/mailvet.env; systemctl reload mailvet');
    const probed = async () => `${(await fetch(`${url}/healthz`)).status} ${debug().includes('"route":"/healthz"')}`;
    await expect.poll(probed, { timeout: 30_000, interval: 500 }).toBe('200 true');
    inside("sed -i '$d' /etc/mailvet.env; systemctl reload mailvet");
    expect(shown('MainPID')).toBe(pid);
  });

  it('says that it is ready and where, and gives its lines a priority', () => {
    expect([shown('Type'), shown('StatusText')]).toEqual(['notify', `Listening on ${url}`]);
    const lines = inside('journalctl --unit mailvet --output json --output-fields PRIORITY,MESSAGE').trim().split('\n');
    const log = lines.map((line) => JSON.parse(line)).filter(({ MESSAGE }) => MESSAGE.startsWith('{"level"'));
    const level = ({ MESSAGE }: { MESSAGE: string }) => JSON.parse(MESSAGE).level;
    const pairs = new Set(log.map((line) => `${level(line)} ${line.PRIORITY}`));
    expect([...pairs].filter((pair) => !['20 7', '40 4', '50 3'].includes(pair))).toEqual(['30 6']);
  });

  it('is restarted when it hangs', async () => {
    inside('mkdir -p /run/systemd/system/mailvet.service.d');
    inside("printf '[Service]\\nWatchdogSec=3\\n' > /run/systemd/system/mailvet.service.d/short.conf");
    inside('systemctl daemon-reload && systemctl restart mailvet');
    const pid = shown('MainPID');
    inside(`sleep 4; kill -STOP ${pid}`);
    await expect.poll(() => shown('NRestarts'), { timeout: 60_000, interval: 500 }).toBe('1');
    await expect
      .poll(() => fetch(`${url}/healthz`).then(({ status }) => status, String), { timeout: 60_000 })
      .toBe(200);
    expect(shown('MainPID')).not.toBe(pid);
  });

  it('is stopped without an error', () => {
    inside('systemctl stop mailvet');
    expect([shown('Result'), shown('ExecMainStatus')]).toEqual(['success', '0']);
  });

  /** Of the service, as this machine numbers it. */
  function hostPid(): string {
    const own = shown('MainPID');
    const all = execFileSync('pgrep', ['--ns', first, '--nslist', 'pid', '.'], { encoding: 'utf8' }).trim().split('\n');
    const found = all.find((pid) => readFileSync(`/proc/${pid}/status`, 'utf8').includes(`\nNSpid:\t${pid}\t${own}\n`));
    if (found === undefined) throw new Error(`no process ${own} among ${all}`);
    return found;
  }
});
