import type { Page } from 'playwright-core';

/**
 * A virtual authenticator in Chromium that stores passkeys and verifies its user (Chrome DevTools Protocol, domain
 * WebAuthn). `credentials`: the number of stored passkeys.
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
