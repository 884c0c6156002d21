import { askerOf, type Options } from '../config/read.ts';
import { createVerifier, type Verifier } from '../index.ts';

/** The library's verifier, set up from this run's options. */
export function verifierFrom(options: Options): Verifier {
  const smtp = askerOf(options);
  return createVerifier({
    ...(options.dnsServers === null ? {} : { dnsServers: options.dnsServers.map(asText) }),
    dnsTimeoutMs: options.dnsTimeoutMs,
    allowPrivateNetworks: options.allowPrivateNetworks,
    listsDir: options.listsDir,
    ...(smtp === null ? {} : { smtp }),
  });
}

const asText = (s: { address: string; port: number }): string =>
  s.address.includes(':') ? `[${s.address}]:${s.port}` : `${s.address}:${s.port}`;
