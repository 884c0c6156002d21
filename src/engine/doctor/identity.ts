/** Under which name and address this host asks, and whether the two vouch for each other. */
import { isQualifiedName } from '../smtp/identity.ts';
import { addressesOf, ptrName, reverseNames, sameIp } from './reverse.ts';
import type { Egress } from './survey.ts';
import { askOf, type Check, type Finding, fail, pass, type World, warn } from './world.ts';

const SET_HELO = 'Set MAILVET_SMTP_HELO to a full name of yours, such as check.example.net';

/** Is there a name for EHLO, is it a full one, and does it resolve (RFC 5321 §2.3.5)? */
export async function checkHelo(world: World): Promise<Finding> {
  const { helo } = world.asker;
  if (helo === null) {
    const found = "There is no name to introduce this host with: the system's own is not a full one.";
    return fail('helo', found, `${SET_HELO}, that resolves to the address mail servers see.`);
  }
  if (!isQualifiedName(helo))
    return fail('helo', `"${helo}" is not a full host name; strict servers refuse it.`, `${SET_HELO}.`);
  const { addresses, unknown } = await addressesOf(helo, askOf(world));
  if (addresses.length > 0) return pass('helo', `${helo} resolves to ${addresses.slice(0, 4).join(', ')}.`);
  if (unknown) return warn('helo', `${helo} could not be looked up.`, 'Mend the resolver first.');
  return fail(
    'helo',
    `${helo} does not resolve.`,
    `Give ${helo} an A (or AAAA) record with the address that mail servers see.`,
  );
}

/** The address found, and whether the HELO name leads to it. */
export async function checkEgress(world: World, { ip, by }: Egress): Promise<Finding> {
  const { helo } = world.asker;
  if (helo === null) return warn('egress', `This host asks from ${ip} (${by}), under no name.`, `${SET_HELO}.`);
  const { addresses, unknown } = await addressesOf(helo, askOf(world));
  if (addresses.some((a) => sameIp(a, ip)))
    return pass('egress', `This host asks from ${ip} (${by}); ${helo} resolves to it.`);
  const found = `This host asks from ${ip} (${by}), to which ${helo} does not resolve.`;
  if (unknown)
    return warn(
      'egress',
      `This host asks from ${ip} (${by}); ${helo} could not be looked up.`,
      'Mend the resolver first.',
    );
  return fail(
    'egress',
    found,
    `Add ${ip} to the ${ip.includes(':') ? 'AAAA' : 'A'} records of ${helo}, or set MAILVET_SMTP_HELO to a name that has it.`,
  );
}

/** Reverse DNS: is there a name, does it lead back, is it the one we introduce ourselves with? */
export async function checkPtr(world: World, { ip }: Egress): Promise<Finding> {
  const { helo } = world.asker;
  const wanted = helo ?? 'the HELO name';
  const { names, confirmed, unknown } = await reverseNames(ip, askOf(world));
  const toSet = `Have the owner of ${ip} (your provider) set its PTR record, ${ptrName(ip)}, to ${wanted}.`;
  if (unknown)
    return warn('ptr', `The PTR record of ${ip} could not be checked.`, 'Try again; if it stays, mend the resolver.');
  if (names.length === 0) return fail('ptr', `${ip} has no PTR record; many mail servers refuse such a host.`, toSet);
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

/** What is said where the address is not known. */
export const withoutEgress = (check: Check): Finding =>
  check === 'egress'
    ? warn(
        check,
        'The address that mail servers see could not be found.',
        'Mend port first, then run the doctor again.',
      )
    : warn(check, 'Not checked: the address that mail servers see is not known.', 'Mend egress first.');
