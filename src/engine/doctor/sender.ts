import { askOf, type DoctorDeps, type Finding, fail, pass, warn } from './deps.ts';
import { checkHost } from './spf/evaluate.ts';
import type { Egress } from './survey.ts';

/** Checks that the SPF record of the sender's domain permits the egress address. */
export async function checkSpf(deps: DoctorDeps, { ip }: Egress): Promise<Finding> {
  const { helo, from } = deps.sender;
  if (helo === null || from === null)
    return warn('spf', 'Not checked: without a HELO name there is no sender.', 'Fix helo first.');
  // RFC 7208 §2.4: for the null sender, postmaster at the HELO name is checked.
  const sender = from === '<>' ? `postmaster@${helo}` : from.replace(/^<|>$/g, '');
  const domain = sender.slice(sender.lastIndexOf('@') + 1);
  const { result, why } = await checkHost({ ip, sender, helo }, askOf(deps));
  const term = `ip${ip.includes(':') ? 6 : 4}:${ip}`;
  switch (result) {
    case 'pass':
      return pass('spf', `The SPF record of ${domain} permits ${ip} (${why}).`);
    case 'none':
      return warn('spf', `${domain} has no SPF record.`, `Publish one: ${domain}. TXT "v=spf1 ${term} -all".`);
    case 'temperror':
      return warn('spf', `SPF could not be checked: ${why}.`, 'Try again; if the problem persists, fix the resolver.');
    case 'permerror':
      return fail('spf', `The SPF record of ${domain} is invalid: ${why}.`, `Correct it so that it permits ${term}.`);
    case 'fail':
      return fail(
        'spf',
        `The SPF record of ${domain} denies ${ip} (${why}).`,
        `Add ${term} to it, or set MAILVET_SMTP_FROM to a sender of another domain.`,
      );
    case 'neutral':
    case 'softfail':
      return warn(
        'spf',
        `The SPF record of ${domain} does not authorize ${ip}: ${result} (${why}).`,
        `Add ${term} to it.`,
      );
  }
}
