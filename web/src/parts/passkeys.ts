import type { startAuthentication, startRegistration } from '@simplewebauthn/browser';
import { api, unwrap } from '../api/client.ts';

/** Loaded when one is used: most people sign in without. */
const load = () => import('@simplewebauthn/browser');

type AuthenticationOptions = Parameters<typeof startAuthentication>[0]['optionsJSON'];
type RegistrationOptions = Parameters<typeof startRegistration>[0]['optionsJSON'];

/** Passkeys belong to a host name: browsers have none where the page is opened by an IP, nor over HTTP except on localhost. */
export const passkeysWork = (): boolean =>
  typeof window.PublicKeyCredential === 'function' && !/^[\d.]+$|^\[/.test(location.hostname);

export async function signInWithPasskey(): Promise<void> {
  const [{ startAuthentication }, { options }] = await Promise.all([
    load(),
    unwrap(api.POST('/dashboard/sign-in/passkey/options')),
  ]);
  const optionsJSON = options as unknown as AuthenticationOptions;
  const credential = await startAuthentication({ optionsJSON }).catch(inWords);
  await unwrap(api.POST('/dashboard/sign-in/passkey', { body: { credential: { ...credential } } }));
}

export async function addPasskey(name: string): Promise<void> {
  const [{ startRegistration }, { options }] = await Promise.all([
    load(),
    unwrap(api.POST('/dashboard/passkeys/options')),
  ]);
  const optionsJSON = options as unknown as RegistrationOptions;
  const credential = await startRegistration({ optionsJSON }).catch(inWords);
  await unwrap(api.POST('/dashboard/passkeys', { body: { name, credential: { ...credential } } }));
}

/** Why there is no credential; the names are those of Web Authentication Level 3 §5.1.3 and §5.1.4. */
const WORDS: Readonly<Record<string, string>> = {
  NotAllowedError: "The browser's question was closed, or it took too long. Try again.",
  AbortError: "The browser's question was closed. Try again.",
  InvalidStateError: 'This device or password manager has a passkey of yours already.',
  SecurityError:
    'Passkeys belong to the host name of this service. Open the dashboard under that name; who runs the service sets it in MAILVET_PUBLIC_URL.',
  NotSupportedError: 'This device has no passkeys of a kind that the service takes. Use another one.',
  ConstraintError: 'This device cannot make sure that it is you. Set a screen lock or a PIN on it, or use another one.',
};

function inWords(error: unknown): never {
  if (!(error instanceof Error)) throw error;
  throw new Error(WORDS[error.name] ?? `The browser did not do it: ${error.message}`, { cause: error });
}
