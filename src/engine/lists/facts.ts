/** The smaller files of data/: kept by hand or built, read whole. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProviderKind } from '../evidence.ts';

export interface Relay {
  readonly domain: string;
  readonly operator: string;
  readonly source: string;
}
export interface Provider {
  readonly name: string;
  readonly kind: ProviderKind;
}

/** Lines of a text file of data/, without comments and empty ones. */
export function readLines(dir: string, name: string): string[] {
  const lines = readFileSync(join(dir, name), 'utf8').split('\n');
  return lines.filter((line) => line !== '' && !line.startsWith('#'));
}

/** `name<TAB>text` lines as a map; the text is empty where there is no second column. */
export function readTable(dir: string, name: string): Map<string, string> {
  return new Map(readLines(dir, name).map((line) => [line.split('\t', 1)[0]!, line.split('\t')[1] ?? '']));
}

const readJson = <T>(dir: string, name: string): T => JSON.parse(readFileSync(join(dir, name), 'utf8')) as T;

export const readRelays = (dir: string): Map<string, Relay> =>
  new Map(readJson<Relay[]>(dir, 'relays.json').map((relay) => [relay.domain, relay]));

export const readRoles = (dir: string) => readJson<{ role: string[]; perhaps: string[] }>(dir, 'roles.json');

interface ProviderRow {
  suffix: string;
  provider: string;
  kind: ProviderKind | 'alias-relay';
}
/** MX suffix → provider. Alias services' own hosts count as relays. */
export const readProviders = (dir: string): Map<string, Provider> =>
  new Map(
    readJson<ProviderRow[]>(dir, 'mx-providers.json').map(({ suffix, provider, kind }) => [
      suffix,
      { name: provider, kind: kind === 'alias-relay' ? 'relay' : kind },
    ]),
  );

interface DisposableMxFile {
  hosts: { host: string; service: string }[];
  addresses: { address: string; service: string }[];
  never: string[];
}
/** Mail hosts and addresses of disposable services, and shared hosts that must never count. */
export function readDisposableMx(dir: string) {
  const file = readJson<DisposableMxFile>(dir, 'disposable-mx.json');
  return {
    hosts: new Map(file.hosts.map((row) => [row.host, row.service])),
    addresses: new Map(file.addresses.map((row) => [row.address, row.service])),
    never: new Set(file.never),
  };
}
