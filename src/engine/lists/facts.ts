/** Readers for the smaller files of data/. */
import { join } from 'node:path';
import type { ProviderKind } from '../../kernel/facts/reasons.ts';
import { readData } from '../data.ts';
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

interface FreeFamilyRow {
  /** The provider in mx-providers.json; null: no hosts of it are known. */
  mx: string | null;
  names: string[];
  /** Separated by spaces. */
  suffixes: string;
}
interface FreeFamiliesFile {
  families: FreeFamilyRow[];
  /** By operator, separated by spaces. */
  domains: Record<string, string>;
}
/** Domains of free providers that are known by name, and whose name under another suffix takes its mail hosts to tell. */
function readFreeFamilies(dir: string) {
  const { families, domains } = readJson<FreeFamiliesFile>(dir, 'free-families.json');
  const products = families.flatMap(({ names, suffixes }) =>
    names.flatMap((name) => suffixes.split(' ').map((suffix) => `${name}.${suffix}`)),
  );
  const single = Object.values(domains).flatMap((of) => of.split(' '));
  const byName = families.flatMap(({ mx, names }) => (mx === null ? [] : names.map((name) => [name, mx] as const)));
  return { domains: [...products, ...single], providerByName: new Map(byName) };
}

/** Everything but the disposable domains; it comes with the package and does not change while the process lives. */
export function readFacts(dir: string) {
  const relays: ReadonlyMap<string, Relay> = readRelays(dir);
  const providers: ReadonlyMap<string, Provider> = readProviders(dir);
  const families = readFreeFamilies(dir);
  return {
    allow: readTable(dir, 'allow.txt'),
    relays,
    zones: readTable(dir, 'zones.txt'),
    free: [...new Set([...readLines(dir, 'free.txt'), ...families.domains])],
    freeProviderByName: families.providerByName,
    known: readTable(dir, 'known.txt'),
    mistyped: readTable(dir, 'mistyped.txt'),
    suggest: [...readTable(dir, 'suggest.txt').keys()],
    role: createRoles(readRoles(dir), new Set(readLines(dir, 'tlds.txt').filter((name) => name.length === 2))),
    providers,
    mx: readDisposableMx(dir),
  };
}
export type Facts = ReturnType<typeof readFacts>;
