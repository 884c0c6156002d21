import { smtpIdentityOf } from '../config/egress.ts';
import type { Options } from '../config/read.ts';
import { watchDomainData } from '../engine/data/domain-data.ts';
import { createVerifier, type Verifier } from '../index.ts';
import { systemClock } from '../kernel/clock.ts';
import { formatHostPort } from '../kernel/ip.ts';

/** Makes the library's verifier, configured from the options. */
export async function verifierFrom(options: Options): Promise<Verifier> {
  const smtp = await smtpIdentityOf(
    options,
    () => watchDomainData(options.listsDir, systemClock).current.providerNames,
  );
  const [first] = smtp?.egresses ?? [];
  return createVerifier({
    ...(options.dnsServers === null ? {} : { dnsServers: options.dnsServers.map(formatHostPort) }),
    dnsTimeoutMs: options.dnsTimeoutMs,
    dnsControlNames: options.dnsControlNames,
    allowPrivateNetworks: options.allowPrivateNetworks,
    listsDir: options.listsDir,
    ...(smtp === null || first === undefined ? {} : { smtp: { ...smtp, helo: first.helo } }),
  });
}
