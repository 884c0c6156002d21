import { type Options, smtpIdentityOf } from '../config/read.ts';
import { createVerifier, type Verifier } from '../index.ts';

/** The library's verifier, configured from the options. */
export function verifierFrom(options: Options): Verifier {
  const smtp = smtpIdentityOf(options);
  return createVerifier({
    ...(options.dnsServers === null ? {} : { dnsServers: options.dnsServers.map(formatServer) }),
    dnsTimeoutMs: options.dnsTimeoutMs,
    allowPrivateNetworks: options.allowPrivateNetworks,
    listsDir: options.listsDir,
    ...(smtp === null ? {} : { smtp }),
  });
}

const formatServer = (s: { address: string; port: number }): string =>
  s.address.includes(':') ? `[${s.address}]:${s.port}` : `${s.address}:${s.port}`;
