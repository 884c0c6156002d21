import { type Options, smtpIdentityOf } from '../config/read.ts';
import { createVerifier, type Verifier } from '../index.ts';
import { formatHostPort } from '../kernel/ip.ts';

/** The library's verifier, configured from the options. */
export function verifierFrom(options: Options): Verifier {
  const smtp = smtpIdentityOf(options);
  return createVerifier({
    ...(options.dnsServers === null ? {} : { dnsServers: options.dnsServers.map(formatHostPort) }),
    dnsTimeoutMs: options.dnsTimeoutMs,
    dnsControlNames: options.dnsControlNames,
    allowPrivateNetworks: options.allowPrivateNetworks,
    listsDir: options.listsDir,
    ...(smtp === null ? {} : { smtp }),
  });
}
