import type { DisposableEvidence, DnsEvidence } from '../evidence.ts';
import type { Lists } from '../lists/lists.ts';

/** By domain: the domain, or a parent of it, is on the list. Suspicion alone is `unknown`. */
export function disposableByName(domain: string, lists: Lists): DisposableEvidence {
  const { verdict, matched } = lists.disposable(domain);
  if (verdict === 'disposable') return { result: 'fail', matched, by: 'list' };
  if (verdict === 'suspected') return { result: 'unknown', matched, by: 'list' };
  return { result: 'pass', matched: null, by: null };
}

/** By mail host: the MX hosts belong to a disposable service. Allowlist and relays take precedence here, too. */
export function disposableByHost(
  byName: DisposableEvidence,
  domain: string,
  dns: DnsEvidence,
  lists: Lists,
): DisposableEvidence {
  if (byName.result === 'fail') return byName;
  const hit = hostHit(dns, lists);
  if (hit === null || lists.disposable(domain).verdict === 'allowed') return byName;
  return { result: 'fail', matched: hit.matched, by: 'mail_host' };
}

type Hit = ReturnType<Lists['disposableHost']>;
const hits = new WeakMap<DnsEvidence, { readonly lists: Lists; readonly hit: Hit }>();

/** Made once for evidence that many addresses of a domain share. */
function hostHit(dns: DnsEvidence, lists: Lists): Hit {
  const known = hits.get(dns);
  if (known?.lists === lists) return known.hit;
  const hosts = dns.records.map(({ host }) => host);
  const addresses = dns.hosts.flatMap((host) => host.addresses);
  const hit = lists.disposableHost(hosts, addresses);
  hits.set(dns, { lists, hit });
  return hit;
}
