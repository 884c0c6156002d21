import { t } from '@lingui/core/macro';
import type { startAuthentication, startRegistration } from '@simplewebauthn/browser';
import { api, unwrap } from '../api/client.ts';
import { useHydrated } from './use-hydrated.ts';

/** Loaded on demand: most users sign in without a passkey. */
const load = () => import('@simplewebauthn/browser');

type AuthenticationOptions = Parameters<typeof startAuthentication>[0]['optionsJSON'];
type RegistrationOptions = Parameters<typeof startRegistration>[0]['optionsJSON'];

/** Passkeys are bound to a host name: browsers have none on an IP address, nor over HTTP except on localhost. */
const areAllowed = (): boolean =>
  (location.protocol === 'https:' || location.hostname === 'localhost') && !/^[\d.]+$|^\[/.test(location.hostname);

export function useSupportsPasskeys(): boolean {
  const isHydrated = useHydrated();
  return areAllowed() && (!isHydrated || typeof window.PublicKeyCredential === 'function');
}

/** What the browser made of a challenge. */
async function assertion() {
  const [{ startAuthentication }, { options }] = await Promise.all([
    load(),
    unwrap(api.POST('/dashboard/sign-in/passkey/options')),
  ]);
  const optionsJSON = options as unknown as AuthenticationOptions;
  return { ...(await startAuthentication({ optionsJSON }).catch(rethrowReadable)) };
}

export async function signInWithPasskey(): Promise<void> {
  const credential = await assertion();
  await unwrap(api.POST('/dashboard/sign-in/passkey', { body: { credential } }));
}

/** How a signed-in user proves who they are. */
export type Proof = { readonly password: string } | { readonly code: string } | { readonly oidc: true } | 'passkey';

export const proofBody = async (proof: Proof) => (proof === 'passkey' ? { credential: await assertion() } : proof);

export async function addPasskey(name: string, proof: Proof): Promise<void> {
  const body = await proofBody(proof);
  const [{ startRegistration }, { options }] = await Promise.all([
    load(),
    unwrap(api.POST('/dashboard/passkeys/options', { body })),
  ]);
  const optionsJSON = options as unknown as RegistrationOptions;
  const credential = await startRegistration({ optionsJSON }).catch(rethrowReadable);
  await unwrap(api.POST('/dashboard/passkeys', { body: { name, credential: { ...credential } } }));
}

/** By DOMException name (Web Authentication Level 3 §5.1.3, §5.1.4). */
const MESSAGES: Readonly<Record<string, string>> = {
  NotAllowedError: t`The request was dismissed or timed out. Try again.`,
  AbortError: t`The request was canceled. Try again.`,
  InvalidStateError: t`This device or password manager already has a passkey for your user.`,
  SecurityError: t`Passkeys are bound to the host name of this service. Open the dashboard at that host name; the operator sets it in MAILVET_PUBLIC_URL.`,
  NotSupportedError: t`This device does not support the passkey types that the service accepts. Use a different device.`,
  ConstraintError: t`This device cannot verify your identity. Set up a screen lock or a PIN, or use a different device.`,
};

function rethrowReadable(error: unknown): never {
  if (!(error instanceof Error)) throw error;
  throw new Error(MESSAGES[error.name] ?? `The browser reported an error: ${error.message}`, { cause: error });
}
