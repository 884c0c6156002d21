/** Readers for the smaller files of data/. */
import { join } from 'node:path';
import { readData } from '../data.ts';
import type { ProviderKind } from '../evidence.ts';
import { createRoles } from './roles.ts';

interface Relay {
  readonly domain: string;
  readonly operator: string;
  readonly source: string;
}
interface Provider {
  readonly name: string;
  readonly kind: ProviderKind;
}

/** Lines of a text file of data/, without comments and empty lines. */
export function readLines(dir: string, name: string): string[] {
  const lines = readData(join(dir, name)).split('\n');
  return lines.filter((line) => line !== '' && !line.startsWith('#'));
}

/** `name<TAB>text` lines as a map; the text is empty if there is no second column. */
export function readTable(dir: string, name: string): Map<string, string> {
  return new Map(
    readLines(dir, name).map((line) => {
      const [key = '', text = ''] = line.split('\t');
      return [key, text];
    }),
  );
}

const readJson = <T>(dir: string, name: string): T => JSON.parse(readData(join(dir, name)));

export const readRelays = (dir: string): Map<string, Relay> =>
  new Map(readJson<Relay[]>(dir, 'relays.json').map((relay) => [relay.domain, relay]));

const readRoles = (dir: string) => readJson<{ role: string[]; perhaps: string[] }>(dir, 'roles.json');

interface ProviderRow {
  suffix: string;
  provider: string;
  kind: ProviderKind | 'alias-relay';
}
/** MX suffix → provider. Hosts of alias services count as relays. */
const readProviders = (dir: string): Map<string, Provider> =>
  new Map(
    readJson<ProviderRow[]>(dir, 'mx-providers.json').map(({ suffix, provider, kind }) => [
      suffix,
      { name: provider, kind: kind === 'alias-relay' ? 'relay' : kind },
    ]),
  );

interface DisposableMxFile {
  hosts: { host: string; service: string }[];
  addresses: { address: string; service: string }[];
}
/** Mail hosts and addresses of disposable services, and shared hosts, which never count. */
function readDisposableMx(dir: string) {
  const file = readJson<DisposableMxFile>(dir, 'disposable-mx.json');
  return {
    hosts: new Map(file.hosts.map((row) => [row.host, row.service])),
    addresses: new Map(file.addresses.map((row) => [row.address, row.service])),
    never: readTable(dir, 'shared-mail-hosts.txt'),
  };
}

/** Everything but the disposable domains; it comes with the package and does not change while the process lives. */
export function readFacts(dir: string) {
  const relays: ReadonlyMap<string, Relay> = readRelays(dir);
  const providers: ReadonlyMap<string, Provider> = readProviders(dir);
  return {
    allow: readTable(dir, 'allow.txt'),
    relays,
    zones: readTable(dir, 'zones.txt'),
    free: readLines(dir, 'free.txt'),
    known: readTable(dir, 'known.txt'),
    mistyped: readTable(dir, 'mistyped.txt'),
    suggest: [...readTable(dir, 'suggest.txt').keys()],
    role: createRoles(readRoles(dir)),
    providers,
    mx: readDisposableMx(dir),
  };
}
export type Facts = ReturnType<typeof readFacts>;
