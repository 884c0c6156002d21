/**
 * The dns stage: which hosts take a domain's mail (RFC 5321 §5.1, 7505). It is written as a generator of questions, so
 * that one text serves both the path that waits for answers and the one that takes what the cache holds (stage.ts).
 */
import { isIPv4 } from 'node:net';
import type { DnsEvidence, DnsFinding, MailHost, MxRecord, ProviderKind, UnusableMx } from '../evidence.ts';
import type { Question } from './message.ts';
import { type DnsAnswer, type DnsFailure, isHostName } from './records.ts';
import { type Routing, routable } from './routable.ts';

export { runStage, runStageNow } from './stage.ts';

export interface MailTools extends Routing {
  /** Usable hosts after which no further addresses are looked up: 1 shows that mail can be sent, 3 are dialled. */
  readonly hostsWanted: number;
  /** 0 ≤ random < 1; shuffles hosts of equal preference. */
  readonly random: () => number;
  readonly lists: { provider(mxHost: string): { name: string; kind: ProviderKind } | null };
}

export type Stage = Generator<readonly Question[], DnsEvidence, readonly DnsAnswer[]>;

/** MX records read; what a domain publishes beyond them is of no use to anybody. */
const MAX_RECORDS = 20;
/** Addresses kept of one host, of each family. */
const MAX_ADDRESSES = 8;
/** Hosts looked up at once, after the first ones were of no use. */
const GROUP = 4;

type Unusable = DnsEvidence['unusable'][number];

const evidence = (finding: DnsFinding, more: Partial<DnsEvidence> = {}): DnsEvidence => ({
  finding,
  failure: null,
  records: [],
  hosts: [],
  unusable: [],
  provider: null,
  ...more,
});

/**
 * Asks for the MX of `domain` (lower-case ASCII), then for the addresses of its hosts, until `hostsWanted` are usable.
 * `dns_failure` here means only that the questions failed; whose fault that is, `runStage` finds out.
 */
export function* mailServers(domain: string, tools: MailTools): Stage {
  const [mx] = yield [{ name: domain, type: 'MX' }];
  switch (mx!.kind) {
    case 'records':
      return yield* fromRecords(recordsOf(mx!), tools);
    case 'nxdomain':
      return evidence('domain_not_found');
    case 'nodata':
      return yield* implicit(domain, tools);
    default:
      return evidence('dns_failure', { failure: mx!.kind });
  }
}

const sorted = new WeakMap<DnsAnswer, readonly MxRecord[]>();

/** Records of an MX answer by preference, then host, each host once; worked out once for each answer in the cache. */
function recordsOf(answer: DnsAnswer): readonly MxRecord[] {
  const known = sorted.get(answer);
  if (known || answer.kind !== 'records') return known ?? [];
  const all = answer.records.flatMap((record) =>
    record.type === 'MX' ? [{ host: record.host, priority: record.priority }] : [],
  );
  all.sort((a, b) => a.priority - b.priority || (a.host < b.host ? -1 : a.host > b.host ? 1 : 0));
  const hosts = new Set<string>();
  const records = all.filter(({ host }) => !hosts.has(host) && hosts.add(host)).slice(0, MAX_RECORDS);
  sorted.set(answer, records);
  return records;
}

function* fromRecords(records: readonly MxRecord[], tools: MailTools): Stage {
  if (records.length === 1 && records[0]!.host === '.') return evidence('null_mx', { records });
  const candidates: MxRecord[] = [];
  const unusable: Unusable[] = [];
  for (const record of records) {
    const why = unusableName(record.host);
    if (why) unusable.push({ host: record.host, why });
    else candidates.push(record);
  }
  const provider = candidates[0] ? tools.lists.provider(candidates[0].host) : null;
  const found = yield* usableHosts(shuffleEqual(candidates, tools.random), tools);
  unusable.push(...found.unusable);
  if (found.hosts.length > 0) return evidence('mx', { records, hosts: found.hosts, unusable, provider });
  const finding = found.failure ? 'dns_failure' : 'mx_unusable';
  return evidence(finding, { failure: found.failure, records, unusable, provider });
}

/** No MX: the domain itself is its mail host, if it has an address (RFC 5321 §5.1). */
function* implicit(domain: string, tools: MailTools): Stage {
  const records = [{ host: domain, priority: 0 }];
  const { hosts, unusable, failure } = yield* usableHosts(records, tools);
  const provider = tools.lists.provider(domain);
  if (hosts.length > 0) return evidence('implicit_mx', { records, hosts, provider });
  if (failure) return evidence('dns_failure', { failure });
  if (unusable[0]?.why === 'not_routable') return evidence('mx_unusable', { records, unusable, provider });
  return evidence('no_mx_records');
}

function unusableName(host: string): UnusableMx | null {
  if (isIPv4(host) || /^\\?\[/.test(host)) return 'ip_literal';
  if (host === 'localhost' || host.endsWith('.localhost') || host === 'localhost.localdomain') return 'localhost';
  return isHostName(host) ? null : 'invalid_name';
}

/** A copy in which hosts of equal preference stand in random order, so that load is shared (RFC 5321 §5.1). */
function shuffleEqual(records: readonly MxRecord[], random: () => number): MxRecord[] {
  const order = [...records];
  for (let i = order.length - 1; i > 0; i--) {
    let first = i;
    while (first > 0 && order[first - 1]!.priority === order[i]!.priority) first--;
    const j = first + Math.floor(random() * (i - first + 1));
    [order[i], order[j]] = [order[j]!, order[i]!];
  }
  return order;
}

interface Looked {
  readonly record: MxRecord;
  /** The addresses that may be dialled, or why there are none. */
  readonly addresses: readonly string[];
  readonly why: UnusableMx | null;
  readonly failure: DnsFailure | null;
}

/** Looks hosts up in groups, in order, until enough are usable. `failure`: how the last look-up that failed did. */
function* usableHosts(
  candidates: readonly MxRecord[],
  tools: MailTools,
): Generator<
  readonly Question[],
  { hosts: MailHost[]; unusable: Unusable[]; failure: DnsFailure | null },
  readonly DnsAnswer[]
> {
  const hosts: MailHost[] = [];
  const useless: Looked[] = [];
  const sort = (looked: readonly Looked[]): void => {
    for (const one of looked) {
      if (one.why) useless.push(one);
      else hosts.push({ host: one.record.host, priority: one.record.priority, addresses: one.addresses });
    }
  };
  for (let next = 0; next < candidates.length && hosts.length < tools.hostsWanted; ) {
    const size = next === 0 ? tools.hostsWanted : GROUP;
    sort(yield* lookUp(candidates.slice(next, next + size), tools));
    next += size;
  }
  // A late answer may have been given up because others were there first; now it is all there is.
  const late = hosts.length > 0 ? [] : useless.filter(({ failure }) => failure === 'timeout').slice(0, GROUP);
  if (late.length > 0) {
    for (const one of late) useless.splice(useless.indexOf(one), 1);
    sort(
      yield* lookUp(
        late.map(({ record }) => record),
        tools,
      ),
    );
  }
  const unusable = useless.map(({ record, why }) => ({ host: record.host, why: why! }));
  return { hosts, unusable, failure: useless.reduce<DnsFailure | null>((last, { failure }) => failure ?? last, null) };
}

/** Both address families of some hosts at once. */
function* lookUp(
  records: readonly MxRecord[],
  tools: MailTools,
): Generator<readonly Question[], Looked[], readonly DnsAnswer[]> {
  const questions: Question[] = [];
  for (const { host } of records) questions.push({ name: host, type: 'A' }, { name: host, type: 'AAAA' });
  const answers = yield questions;
  return records.map((record, i) => judgeHost(record, [answers[2 * i]!, answers[2 * i + 1]!], tools));
}

interface Dialable {
  /** Those that may be dialled; at most MAX_ADDRESSES. */
  readonly addresses: readonly string[];
  readonly published: number;
  /** What may be dialled depends on these. */
  readonly by: Routing;
}

const dialable = new WeakMap<DnsAnswer, Dialable>();

/** Addresses of an A or AAAA answer; worked out once for each answer in the cache. */
function addressesOf(answer: DnsAnswer, { own, allowPrivate }: Routing): Dialable {
  const known = dialable.get(answer);
  if (known?.by.own === own && known.by.allowPrivate === allowPrivate) return known;
  const by = { own, allowPrivate };
  const all = answer.kind === 'records' ? answer.records.flatMap((r) => ('address' in r ? [r.address] : [])) : [];
  const addresses: string[] = [];
  for (const address of all) {
    if (addresses.length === MAX_ADDRESSES) break;
    if (routable(address, by)) addresses.push(address);
  }
  const found = { addresses, published: all.length, by };
  dialable.set(answer, found);
  return found;
}

function judgeHost(record: MxRecord, answers: readonly DnsAnswer[], tools: MailTools): Looked {
  const addresses: string[] = [];
  let published = 0;
  let failure: DnsFailure | null = null;
  for (const answer of answers) {
    if (answer.kind === 'records') {
      const found = addressesOf(answer, tools);
      published += found.published;
      for (const address of found.addresses) addresses.push(address);
    } else if (answer.kind !== 'nodata' && answer.kind !== 'nxdomain') failure = answer.kind;
  }
  if (addresses.length > 0) return { record, addresses, why: null, failure: null };
  const why = failure ? 'dns_failure' : published > 0 ? 'not_routable' : 'no_address';
  return { record, addresses, why, failure };
}
