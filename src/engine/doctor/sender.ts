import { checkHost } from './spf/evaluate.ts';
import type { Egress } from './survey.ts';
import { askOf, type Finding, fail, pass, type World, warn } from './world.ts';

/** Does the SPF record of the sender's domain permit the address we ask from? */
export async function checkSpf(world: World, { ip }: Egress): Promise<Finding> {
  const { helo, from } = world.asker;
  if (helo === null || from === null)
    return warn('spf', 'Not checked: there is no HELO name, and so no sender.', 'Mend helo first.');
  // RFC 7208 §2.4: the null sender is judged as the postmaster of the HELO name.
  const sender = from === '<>' ? `postmaster@${helo}` : from.replace(/^<|>$/g, '');
  const domain = sender.slice(sender.lastIndexOf('@') + 1);
  const { result, why } = await checkHost({ ip, sender, helo }, askOf(world));
  const term = `ip${ip.includes(':') ? 6 : 4}:${ip}`;
  switch (result) {
    case 'pass':
      return pass('spf', `The SPF record of ${domain} permits ${ip} (${why}).`);
    case 'none':
      return warn('spf', `${domain} has no SPF record.`, `Publish one: ${domain}. TXT "v=spf1 ${term} -all".`);
    case 'temperror':
      return warn('spf', `SPF could not be checked: ${why}.`, 'Try again; if it stays, mend the resolver.');
    case 'permerror':
      return fail('spf', `The SPF record of ${domain} is broken: ${why}.`, `Correct it; ${term} is to be permitted.`);
    case 'fail':
      return fail(
        'spf',
        `The SPF record of ${domain} forbids ${ip} (${why}).`,
        `Add ${term} to it, or set MAILVET_SMTP_FROM to a sender of another domain.`,
      );
    default:
      return warn(
        'spf',
        `The SPF record of ${domain} does not vouch for ${ip}: ${result} (${why}).`,
        `Add ${term} to it.`,
      );
  }
}
