/** The name and address under which this host connects, and whether they match. */
import { isQualifiedName } from '../smtp/mailbox.ts';
import { askOf, type Check, type DoctorDeps, type Finding, fail, pass, warn } from './deps.ts';
import { addressesOf, ptrName, reverseNames, sameIp } from './reverse.ts';
import type { Egress } from './survey.ts';

const SET_HELO = 'Set MAILVET_SMTP_HELO to a fully qualified name of your own, such as check.example.net';

/** Checks that there is an EHLO name, that it is fully qualified, and that it resolves (RFC 5321 §2.3.5). */
export async function checkHelo(deps: DoctorDeps): Promise<Finding> {
  const { helo } = deps.sender;
  if (helo === null) {
    const found = "There is no name for EHLO: the system's host name is not fully qualified.";
    return fail('helo', found, `${SET_HELO}, which resolves to the address that mail servers see.`);
  }
  if (!isQualifiedName(helo))
    return fail('helo', `"${helo}" is not a fully qualified host name; strict servers reject it.`, `${SET_HELO}.`);
  const { addresses, unknown } = await addressesOf(helo, askOf(deps));
  if (addresses.length > 0) return pass('helo', `${helo} resolves to ${addresses.slice(0, 4).join(', ')}.`);
  if (unknown) return warn('helo', `${helo} could not be looked up.`, 'Fix the resolver first.');
  return fail(
    'helo',
    `${helo} does not resolve.`,
    `Give ${helo} an A (or AAAA) record with the address that mail servers see.`,
  );
}

/** Checks that the HELO name resolves to the egress address. */
export async function checkEgress(deps: DoctorDeps, { ip, by }: Egress): Promise<Finding> {
  const { helo } = deps.sender;
  if (helo === null) return warn('egress', `This host connects from ${ip} (${by}), without a name.`, `${SET_HELO}.`);
  const { addresses, unknown } = await addressesOf(helo, askOf(deps));
  if (addresses.some((a) => sameIp(a, ip)))
    return pass('egress', `This host connects from ${ip} (${by}); ${helo} resolves to it.`);
  const found = `This host connects from ${ip} (${by}), to which ${helo} does not resolve.`;
  if (unknown)
    return warn(
      'egress',
      `This host connects from ${ip} (${by}); ${helo} could not be looked up.`,
      'Fix the resolver first.',
    );
  return fail(
    'egress',
    found,
    `Add ${ip} to the ${ip.includes(':') ? 'AAAA' : 'A'} records of ${helo}, or set MAILVET_SMTP_HELO to a name that has it.`,
  );
}

/** Checks reverse DNS: that there is a PTR record, that it resolves back, and that it is the HELO name. */
export async function checkPtr(deps: DoctorDeps, { ip }: Egress): Promise<Finding> {
  const { helo } = deps.sender;
  const wanted = helo ?? 'the HELO name';
  const { names, confirmed, unknown } = await reverseNames(ip, askOf(deps));
  const toSet = `Have the owner of ${ip} (your provider) set its PTR record, ${ptrName(ip)}, to ${wanted}.`;
  if (unknown)
    return warn(
      'ptr',
      `The PTR record of ${ip} could not be checked.`,
      'Try again; if the problem persists, fix the resolver.',
    );
  if (names.length === 0) return fail('ptr', `${ip} has no PTR record; many mail servers reject such hosts.`, toSet);
  if (confirmed.length === 0) {
    return fail(
      'ptr',
      `The PTR of ${ip} is ${names[0]}, which does not resolve to ${ip}.`,
      `${toSet} That name must resolve to ${ip}.`,
    );
  }
  if (helo !== null && !confirmed.includes(helo.toLowerCase())) {
    return warn(
      'ptr',
      `The PTR of ${ip} is ${confirmed[0]}, and EHLO says ${helo}.`,
      `${toSet} Or set MAILVET_SMTP_HELO=${confirmed[0]}.`,
    );
  }
  return pass(
    'ptr',
    `The PTR of ${ip} is ${confirmed.find((n) => n === helo?.toLowerCase()) ?? confirmed[0]}, which resolves to it.`,
  );
}

/** The finding of a check that needs the egress address when that is unknown. */
export const withoutEgress = (check: Check): Finding =>
  check === 'egress'
    ? warn(
        check,
        'The address that mail servers see could not be determined.',
        'Fix port first, then run the doctor again.',
      )
    : warn(check, 'Not checked: the address that mail servers see is unknown.', 'Fix egress first.');
