/**
 * Runs a Dockerfile's steps in bare Debian roots, for machines without a container engine. The base image is Debian's
 * minimal system with Node 24 and npm in /usr/local, as in the official image. Needs root.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cloneTo, freshMachine, ROOT } from './machine.ts';

const NODE_IMAGE = 'node:24-bookworm-slim';
const DEBIAN_IMAGE = 'debian:bookworm-slim';
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** What an engine reads from an image to start a container. */
export interface Image {
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  readonly user: string;
  readonly workdir: string;
  readonly volumes: readonly string[];
  readonly entrypoint: readonly string[];
  readonly cmd: readonly string[];
  readonly healthcheck: readonly string[];
}
type Draft = { -readonly [K in keyof Image]: Image[K] };

/** `[instruction, argument]` in order, with continued lines joined and comments left out. */
export function instructionsOf(text: string): [string, string][] {
  const joined = text.replaceAll(/^\s*#.*\n/gm, '').replaceAll(/\\\n/g, ' ');
  return joined
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => {
      const [, name = '', rest = ''] = /^(\S+)\s*(.*)$/.exec(line) ?? [];
      return [name.toUpperCase(), rest];
    });
}

/** `context`: folder that COPY copies from; the whole clone for `.`. */
export class Builder {
  readonly #dir: string;
  #base: string | null = null;

  constructor(dir: string) {
    this.#dir = dir;
  }

  build(dockerfile: string, context: string): Image {
    const stages = new Map<string, Draft>();
    let image: Draft | null = null;
    for (const [name, rest] of instructionsOf(readFileSync(dockerfile, 'utf8'))) {
      if (name === 'FROM') {
        const [from = '', , alias = ''] = rest.split(/\s+/);
        image = this.#from(from, stages.size);
        stages.set(alias || `${stages.size}`, image);
      } else if (image === null) throw new Error(`${name} before FROM`);
      else step(image, name, rest, { stages, context });
    }
    if (image === null) throw new Error('no FROM');
    return image;
  }

  #from(reference: string, number: number): Draft {
    const [name = ''] = reference.split('@', 1);
    if (name !== NODE_IMAGE && name !== DEBIAN_IMAGE) throw new Error(`unknown image ${name}`);
    const root = join(this.#dir, `${dirname(name).length}-${name.replaceAll(/\W/g, '-')}-${number}`);
    rmSync(root, { recursive: true, force: true });
    execFileSync('cp', ['-a', '--reflink=auto', this.#debian(), root]);
    if (name === NODE_IMAGE) addNode(root);
    return { root, env: { PATH }, user: 'root', workdir: '/', volumes: [], entrypoint: [], cmd: [], healthcheck: [] };
  }

  /** Made once. With the certificates and package sources of this machine, so that its mirrors are reached. */
  #debian(): string {
    if (this.#base !== null) return this.#base;
    const base = join(this.#dir, 'debian');
    const args = ['--variant=minbase', '--include=ca-certificates', 'bookworm', base, ...sources()];
    execFileSync('mmdebstrap', args, { stdio: ['ignore', 'ignore', 'pipe'] });
    for (const file of ['/etc/resolv.conf', '/etc/hosts', '/etc/ssl/certs/ca-certificates.crt'])
      if (existsSync(file)) cpSync(realpathSync(file), join(base, file));
    this.#base = base;
    return base;
  }
}

function sources(): string[] {
  const files = ['/etc/apt/sources.list.d/debian.sources', '/etc/apt/sources.list'];
  return files.filter((file) => existsSync(file) && readFileSync(file, 'utf8').trim() !== '').slice(0, 1);
}

function addNode(root: string): void {
  const machine = freshMachine();
  try {
    const lib = join(root, 'usr/local/lib/node_modules');
    mkdirSync(lib, { recursive: true });
    cpSync(process.execPath, join(root, 'usr/local/bin/node'));
    const npm = dirname(dirname(realpathSync(join(dirname(machine.node), 'npm'))));
    cpSync(npm, join(lib, 'npm'), { recursive: true });
    for (const name of ['npm', 'npx'])
      symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(root, 'usr/local/bin', name));
  } finally {
    machine.remove();
  }
}

interface Sources {
  readonly stages: ReadonlyMap<string, Draft>;
  readonly context: string;
}

function step(image: Draft, name: string, rest: string, { stages, context }: Sources): void {
  const at = (path: string) => join(image.root, path.startsWith('/') ? path : join(image.workdir, path));
  switch (name) {
    case 'RUN':
      run(image, rest);
      break;
    case 'WORKDIR':
      image.workdir = rest;
      mkdirSync(at('.'), { recursive: true });
      break;
    case 'ENV':
      image.env = {
        ...image.env,
        ...Object.fromEntries(rest.split(/\s+/).map((pair) => pair.split(/=(.*)/s).slice(0, 2))),
      };
      break;
    case 'USER':
      image.user = rest;
      break;
    case 'VOLUME':
      image.volumes = [...image.volumes, rest];
      break;
    case 'COPY':
      copy(rest, at, { stages, context });
      break;
    case 'ENTRYPOINT':
      image.entrypoint = JSON.parse(rest);
      break;
    case 'CMD':
      image.cmd = JSON.parse(rest);
      break;
    case 'HEALTHCHECK':
      image.healthcheck = JSON.parse(rest.slice(rest.indexOf('[')));
      break;
    case 'EXPOSE':
    case 'STOPSIGNAL':
      break;
    default:
      throw new Error(`unknown instruction ${name}`);
  }
}

function copy(rest: string, at: (path: string) => string, { stages, context }: Sources): void {
  const words = rest.split(/\s+/);
  const from = words[0]?.startsWith('--from=') ? stages.get(words.shift()?.slice('--from='.length) ?? '') : undefined;
  const target = at(words.pop() ?? '');
  for (const word of words) {
    if (from === undefined && word === '.') cloneTo(target);
    else {
      const source = join(from?.root ?? context, word);
      const name = target.endsWith('/.') || words.length > 1 ? join(target, source.split('/').at(-1) ?? '') : target;
      cpSync(source, name, { recursive: true, verbatimSymlinks: true });
    }
  }
}

/** Arguments of `unshare` for a command in the image, in a mount namespace of its own, as `user`. */
function inside(image: Image, user: string, mounts: readonly string[], command: readonly string[]): string[] {
  const all = [`mount -t proc proc ${image.root}/proc`, `mount --rbind /dev ${image.root}/dev`, ...mounts];
  const chroot = `exec chroot --userspec=${user}:${user} ${image.root} /usr/bin/env -C ${image.workdir} "$@"`;
  const script = [...all, chroot].join(' && ');
  return ['--mount', '--propagation', 'private', '/bin/sh', '-c', script, 'sh', ...command];
}

/** Exit status of a command in the image, as the user of the image. */
export function runIn(image: Image, command: readonly string[], env: Record<string, string>): number | null {
  const args = inside(image, image.user, [], command);
  return spawnSync('unshare', args, { env: { ...image.env, ...env }, stdio: 'ignore' }).status;
}

/** As an engine would, as root, with npm's settings and cache of this machine. */
function run(image: Image, line: string): void {
  const npm = (name: string) =>
    execFileSync('npm', ['config', 'get', name], { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const ca = '/etc/ssl/certs/ca-certificates.crt';
  const cache = npm('cache').trim();
  mkdirSync(cache, { recursive: true });
  const npmrc = join(process.env.HOME ?? '/root', '.npmrc');
  if (existsSync(npmrc)) cpSync(npmrc, join(image.root, 'root/.npmrc'));
  const target = join(image.root, 'root/.npm');
  mkdirSync(target, { recursive: true });
  const settings = {
    HOME: '/root',
    npm_config_registry: npm('registry').trim(),
    npm_config_cache: '/root/.npm',
    npm_config_cafile: ca,
    NODE_EXTRA_CA_CERTS: ca,
    npm_config_prefer_offline: 'true',
  };
  const args = inside(image, 'root', [`mount --bind ${cache} ${target}`], ['/bin/sh', '-c', line]);
  const { status, stderr } = spawnSync('unshare', args, {
    env: { ...image.env, ...settings },
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  if (status !== 0) throw new Error(`RUN ${line}\n${stderr}`);
}

/** A container's process: read-only root, a tmpfs for /tmp, the volumes from `folder`. */
export function start(image: Image, folder: string, command = image.cmd, env: Record<string, string> = {}) {
  const mounts = [
    ...image.volumes.map((volume) => `mount --bind ${join(folder, volume)} ${image.root}${volume}`),
    `mount -t tmpfs -o mode=1777 tmpfs ${image.root}/tmp`,
  ];
  const root = [`mount --bind ${image.root} ${image.root}`, `mount -o remount,bind,ro ${image.root}`];
  const args = inside(image, image.user, mounts, [...image.entrypoint, ...command]);
  // Before the other mounts, which would be hidden by it.
  const script = args.indexOf('-c') + 1;
  args[script] = [...root, args[script]].join(' && ');
  return spawn('unshare', args, { env: { ...image.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
}
