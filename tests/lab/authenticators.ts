/** What people carry to sign in: an authenticator app, and a device that holds passkeys. */
import { createHmac } from 'node:crypto';
import type { Page } from 'playwright-core';

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** RFC 4648 §6, without padding. */
function fromBase32(text: string): Buffer {
  const bits = [...text.replaceAll(/[\s=]/g, '').toUpperCase()].map((c) =>
    BASE32.indexOf(c).toString(2).padStart(5, '0'),
  );
  const octets = bits.join('').match(/.{8}/g) ?? [];
  return Buffer.from(octets.map((octet) => Number.parseInt(octet, 2)));
}

const STEP_MS = 30_000;

/** The six digits that an app shows for a secret in base32 at a time in ms (RFC 6238, RFC 4226 §5.3). */
export function totpCode(secret: string, time: number = Date.now()): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(time / STEP_MS)));
  const mac = createHmac('sha1', fromBase32(secret)).update(counter).digest();
  const offset = mac.at(-1)! & 0xf;
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}

/**
 * A phone or laptop that holds passkeys and knows its owner, in Chromium's own words (Chrome DevTools Protocol,
 * domain WebAuthn). `credentials` are those that it holds.
 */
export async function addPasskeyDevice(page: Page): Promise<{ credentials(): Promise<number> }> {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    async credentials() {
      return (await session.send('WebAuthn.getCredentials', { authenticatorId })).credentials.length;
    },
  };
}
