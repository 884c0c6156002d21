/**
 * deploy/systemd/mailvet.service, started by systemd as docs/operating.md has it. systemd is the first process of
 * namespaces of its own, and sees this machine's files with changes that are lost. Needs root.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { samplesOf } from '../lab/samples.ts';
import { freePort, ROOT } from './machine.ts';

/** `$1`: an empty folder, `$2`: the clone. The environment file of the unit is the standard input. */
const BOOT = `
set -e
mount --make-rprivate /
mount -t tmpfs tmpfs "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
cd "$1/root"
# Of this machine's units, only those that come with systemd.
rm -rf etc/systemd/system/* && : > etc/fstab
cp "$2/deploy/systemd/mailvet.service" etc/systemd/system/
mkdir etc/systemd/system/multi-user.target.wants
ln -s ../mailvet.service etc/systemd/system/multi-user.target.wants/
cat > etc/mailvet.env
echo '- {name: one, helo: one.example.com}' > etc/mailvet-egress.yaml
chroot . useradd --system --no-create-home mailvet
mkdir -p opt/mailvet old
mount --bind "$2" opt/mailvet
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
  const found = samplesOf('docs/operating.md').find(({ code }) => code.startsWith(start));
  if (found === undefined) throw new Error(`docs/operating.md has no sample that begins with ${start}`);
  return found.code;
};

describe('the service unit', () => {
  const dir = mkdtempSync(join(tmpdir(), 'mailvet-unit-'));
  let systemd: ChildProcess;
  let first = '';
  let url: string;

  /** A shell command on the machine that systemd started. */
  function inside(command: string): string {
    const args = ['--target', first, '--mount', '--pid', '--cgroup', '--ipc', '--uts', '--root', '--wd'];
    return execFileSync('nsenter', [...args, '/bin/sh', '-ec', command], { encoding: 'utf8', timeout: 60_000 });
  }
  const shown = (property: string) => inside(`systemctl show mailvet --value --property ${property}`).trim();

  beforeAll(async () => {
    const port = await freePort();
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
    systemd = spawn('unshare', [...args, dir, ROOT], { stdio: ['pipe', 'ignore', 'pipe'] });
    let errors = '';
    systemd.stderr?.setEncoding('utf8').on('data', (text: string) => {
      errors += text;
    });
    // The file has the HELO name.
    const environment = sample('# /etc/mailvet.env').replace(/^MAILVET_SMTP_HELO=.*\n/m, '');
    const more = { MAILVET_PORT: port, MAILVET_DRAIN_SECONDS: 0, MAILVET_SMTP_EGRESS_FILE: '/etc/mailvet-egress.yaml' };
    const lines = Object.entries(more).map(([name, value]) => `${name}=${value}\n`);
    systemd.stdin?.end(environment + lines.join(''));
    await vi.waitFor(
      async () => {
        first = readFileSync(`/proc/${systemd.pid}/task/${systemd.pid}/children`, 'utf8').trim();
        const status = await fetch(`${url}/healthz`).then(
          (reply) => reply.status,
          () => (first === '' || spawnSync('kill', ['-0', first]).status !== 0 ? errors : 'starting'),
        );
        expect(status).toBe(200);
      },
      { timeout: 60_000, interval: 200 },
    );
  });
  afterAll(() => {
    systemd.kill('SIGKILL');
    rmSync(dir, { recursive: true, force: true });
  });

  it('works under its restrictions: verdicts, lists, dashboard', async () => {
    const status = readFileSync(`/proc/${hostPid()}/status`, 'utf8');
    expect(status).toMatch(/^CapEff:\s0+$[\s\S]*^NoNewPrivs:\s1$[\s\S]*^Seccomp:\s2$/m);
    const command = (words: string) => inside(sample('systemd-run').replace('account list', words));
    const { id } = JSON.parse(command('account create --name Shop --plan premium --credits 10 --json'));
    const { key } = JSON.parse(command(`key create --account ${id} --name Form --test --json`));
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
    expect(shown('MainPID')).toBe(pid);
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
