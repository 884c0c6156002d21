/** The options say from which addresses and under which names mail servers are asked. */
import { type Egress, egressesOf } from '../kernel/egress.ts';
import { readNamedFile } from './options.ts';
import type { Options } from './read.ts';

type EgressOptions = Pick<
  Options,
  | 'smtpEgressFile'
  | 'smtpHelo'
  | 'smtpFrom'
  | 'smtpBind'
  | 'smtpPort'
  | 'smtpConnectionsPerHost'
  | 'smtpRatePerOperator'
  | 'smtpBreakerSeconds'
  | 'allowPrivateNetworks'
>;

/**
 * The options of the mailbox check for the engine; null if this host has no HELO name. `providers`: names of the mail
 * operators that the data knows. Throws with all mistakes of the egress file.
 */
export async function smtpIdentityOf(options: EgressOptions, providers: () => ReadonlySet<string>) {
  const egresses = await readEgresses(options, providers);
  if (egresses === null) return null;
  return {
    egresses,
    port: options.smtpPort,
    connectionsPerHost: options.smtpConnectionsPerHost,
    ratePerOperator: options.smtpRatePerOperator,
    breakerSeconds: options.smtpBreakerSeconds,
  };
}

async function readEgresses(
  options: EgressOptions,
  providers: () => ReadonlySet<string>,
): Promise<readonly Egress[] | null> {
  const file = options.smtpEgressFile;
  const { helo, from, bind } = { helo: options.smtpHelo, from: options.smtpFrom, bind: options.smtpBind };
  if (file === null) return helo === null || from === null ? null : egressesOf({ helo, from: from || '<>', bind });
  // The parser is needed by few commands, and only where there is a file.
  const { parseEgressFile } = await import('./egress-file.ts');
  const text = readNamedFile('MAILVET_SMTP_EGRESS_FILE', file);
  const read = parseEgressFile(text, { path: file, isLaboratory: options.allowPrivateNetworks, providers });
  if (!read.ok) throw new Error(read.problems.join('\n'));
  return read.egresses;
}
