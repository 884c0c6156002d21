import { ApiError } from '../../kernel/errors.ts';
import { PASSKEYS_MAX } from '../../kernel/limits.ts';
import { parsePasskeyName } from '../names.ts';
import type { Devices } from './devices.ts';
import type { Library } from './library.ts';
import {
  type BrowserRequest,
  type Cookies,
  callLibrary,
  cookiesOf,
  type ErrorMapping,
  headersOf,
} from './library-calls.ts';
import type { Limits } from './limits.ts';
import { endSecondFactor } from './second-factor-sessions.ts';
import type { SignedIn } from './session.ts';
import type { UserAudit } from './user-audit.ts';

type Json = Readonly<Record<string, unknown>>;

interface Passkey {
  readonly id: string;
  readonly name: string;
  /** Unix time, ms. */
  readonly createdAt: number;
}

/** Passkeys (WebAuthn Level 3). Options and credentials are in the JSON form used by browsers. */
export interface PasskeyService {
  list(browser: BrowserRequest): Promise<Passkey[]>;
  addOptions(browser: BrowserRequest): Promise<Cookies & { options: Json }>;
  add(browser: BrowserRequest, user: SignedIn, input: { name: string; credential: Json }): Promise<void>;
  /** False if the user has no such passkey. */
  remove(browser: BrowserRequest, user: SignedIn, id: string): Promise<boolean>;
  signInOptions(browser: BrowserRequest): Promise<Cookies & { options: Json }>;
  signIn(browser: BrowserRequest, credential: Json): Promise<Cookies & { user: string }>;
}

const ADD: ErrorMapping = {
  FAILED_TO_VERIFY_REGISTRATION: 'passkey_refused',
  CHALLENGE_NOT_FOUND: ['passkey_refused', 'That took too long. Start again.'],
  YOU_ARE_NOT_ALLOWED_TO_REGISTER_THIS_PASSKEY: 'passkey_refused',
};
const REJECTED = ['sign_in_failed', 'The passkey was not accepted.'] as const;
const SIGN_IN: ErrorMapping = {
  PASSKEY_NOT_FOUND: ['sign_in_failed', 'This passkey is not registered here.'],
  CHALLENGE_NOT_FOUND: ['sign_in_failed', 'That took too long. Start again.'],
  UNAUTHORIZED: REJECTED,
  BAD_REQUEST: REJECTED,
};

/** WebAuthn Level 3 §5.1: credential IDs have at most 1023 bytes; in base64url. */
const ID = /^[A-Za-z0-9_-]{1,1364}$/;
/** §5.8.4, with room for future values. */
const TRANSPORT = /^[a-z-]{1,32}$/;

/**
 * Checks what the library uses unverified: the ID, which it looks up, and the transports, which it stores. Null if they
 * are malformed.
 */
function checkedCredential(credential: Json): Record<string, unknown> | null {
  const { id, response } = credential;
  if (typeof id !== 'string' || !ID.test(id) || typeof response !== 'object' || response === null) return null;
  const transports: unknown = 'transports' in response ? (response.transports ?? []) : [];
  const plain = Array.isArray(transports) && transports.length <= 10;
  if (!plain || !transports.every((one) => typeof one === 'string' && TRANSPORT.test(one))) return null;
  return { ...credential };
}

interface PasskeyParts {
  readonly library: () => Promise<Library>;
  readonly limits: Limits;
  readonly devices: Devices;
  readonly audit: UserAudit;
  /** Null: passkeys cannot be bound to the service's public URL. */
  readonly relyingParty: () => string | null;
  /** Ends the browser's previous session. */
  readonly endPreviousSession: (browser: BrowserRequest) => Promise<void>;
}

export function createPasskeys(parts: PasskeyParts): PasskeyService {
  const { library, limits, devices, audit, relyingParty, endPreviousSession } = parts;
  function requireRelyingParty(): void {
    if (relyingParty() !== null) return;
    const message = 'Passkeys need a host name: the operator must set MAILVET_PUBLIC_URL to one, not to an IP address.';
    throw new ApiError('passkey_refused', message);
  }
  const rowsOf = async (browser: BrowserRequest) => {
    const { api } = await library();
    return callLibrary({}, () => api.listPasskeys({ headers: headersOf(browser, 'session_token') }));
  };

  async function ownerOf(credentialId: unknown): Promise<string | null> {
    const { adapter } = await (await library()).$context;
    const where = [{ field: 'credentialID', value: String(credentialId) }];
    return (await adapter.findOne<{ userId: string }>({ model: 'passkey', where }))?.userId ?? null;
  }

  return {
    async list(browser) {
      const rows = await rowsOf(browser);
      const all = rows.map(({ id, name, createdAt }) => ({
        id,
        name: name ?? 'Passkey',
        createdAt: createdAt?.getTime() ?? 0,
      }));
      return all.sort((a, b) => a.createdAt - b.createdAt);
    },

    async addOptions(browser) {
      requireRelyingParty();
      if ((await rowsOf(browser)).length >= PASSKEYS_MAX)
        throw new ApiError('passkey_refused', `At most ${PASSKEYS_MAX} passkeys are allowed. Remove one first.`);
      const { api } = await library();
      const made = await callLibrary({}, () =>
        api.generatePasskeyRegistrationOptions({ headers: headersOf(browser, 'session_token'), returnHeaders: true }),
      );
      return { options: { ...made.response }, setCookie: cookiesOf(made.headers) };
    },

    async add(browser, user, { name: typed, credential }) {
      requireRelyingParty();
      const name = parsePasskeyName(typed);
      const response = checkedCredential(credential);
      if (response === null) throw new ApiError('passkey_refused');
      const { api } = await library();
      const headers = headersOf(browser, 'session_token', 'passkey');
      await callLibrary(ADD, () => api.verifyPasskeyRegistration({ body: { response, name }, headers }));
      await audit.record(user.id, browser, 'user.passkey_added', { passkey: name });
    },

    async remove(browser, user, id) {
      const row = (await rowsOf(browser)).find((one) => one.id === id);
      if (row === undefined) return false;
      const { api } = await library();
      await callLibrary({}, () => api.deletePasskey({ body: { id }, headers: headersOf(browser, 'session_token') }));
      await endSecondFactor(await (await library()).$context, row.userId);
      await audit.record(user.id, browser, 'user.passkey_removed', { passkey: row.name ?? 'Passkey' });
      return true;
    },

    async signInOptions(browser) {
      requireRelyingParty();
      await limits.countIp('passkey-ip', await devices.originOf(browser, null));
      const { api } = await library();
      const made = await callLibrary({}, () =>
        api.generatePasskeyAuthenticationOptions({ headers: headersOf(browser), returnHeaders: true }),
      );
      // The library always offers `preferred`, but then rejects a passkey that did not verify the user.
      return { options: { ...made.response, userVerification: 'required' }, setCookie: cookiesOf(made.headers) };
    },

    async signIn(browser, credential) {
      requireRelyingParty();
      await limits.countIp('sign-in-ip', await devices.originOf(browser, null));
      const response = checkedCredential(credential);
      if (response === null) throw new ApiError(...REJECTED);
      const { api } = await library();
      // The library's type assumes a valid credential, which only the verification can establish.
      const body = { response: response as never };
      const call = { body, headers: headersOf(browser, 'passkey'), returnHeaders: true } as const;
      const verify = () => callLibrary(SIGN_IN, () => api.verifyPasskeyAuthentication(call));
      const claimed = await ownerOf(response.id);
      const done = await (claimed === null
        ? verify()
        : audit.attempt({ user: { id: claimed }, by: 'anonymous', from: browser, factor: 'passkey' }, verify));
      await endPreviousSession(browser);
      const user = done.response.user.id;
      await audit.record(user, browser, 'user.signed_in', { factor: 'passkey' });
      return { user, setCookie: [...cookiesOf(done.headers), ...(await devices.remember(browser, user))] };
    },
  };
}
