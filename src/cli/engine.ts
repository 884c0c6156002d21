import { type Options, smtpIdentityOf } from '../config/read.ts';
import { formatServer } from '../engine/dns/servers.ts';
import { createVerifier, type Verifier } from '../index.ts';

/** The library's verifier, configured from the options. */
export function verifierFrom(options: Options): Verifier {
  const smtp = smtpIdentityOf(options);
  return createVerifier({
    ...(options.dnsServers === null ? {} : { dnsServers: options.dnsServers.map(formatServer) }),
    dnsTimeoutMs: options.dnsTimeoutMs,
    dnsControlNames: options.dnsControlNames,
    allowPrivateNetworks: options.allowPrivateNetworks,
    listsDir: options.listsDir,
    ...(smtp === null ? {} : { smtp }),
  });
}
