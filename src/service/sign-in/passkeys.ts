import { ApiError } from '../../kernel/errors.ts';
import { PASSKEYS_MAX } from '../../kernel/facts/limits.ts';
import type { PasskeyRecord, Store } from '../../store/store.ts';
import { parsePasskeyName } from '../names.ts';
import type { Devices } from './devices.ts';
import type { Library } from './library.ts';
import { type BrowserRequest, callLibrary, cookiesOf, type ErrorMapping, headersOf } from './library-calls.ts';
import { inserting } from './library-inserts.ts';
import type { Limits } from './limits.ts';
import { type NotifyUser, sourceOf } from './notices.ts';
import { endSecondFactor } from './second-factor-sessions.ts';
import type { SignedIn } from './session.ts';
import { recordedSignIn, type UserAudit } from './user-audit.ts';

export type { PasskeyRecord };

type PasskeyJson = Readonly<Record<string, unknown>>;

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
const PASSKEY_ERRORS: ErrorMapping = {
  CHALLENGE_NOT_FOUND: ['passkey_refused', 'That took too long. Start again.'],
  UNAUTHORIZED: 'passkey_refused',
  BAD_REQUEST: 'passkey_refused',
};

/** WebAuthn Level 3 §5.1: credential IDs have at most 1023 bytes; in base64url. */
const CREDENTIAL_ID = /^[A-Za-z0-9_-]{1,1364}$/;
/** §5.8.4 defines them; there is room for future values. */
const TRANSPORT = /^[a-z-]{1,32}$/;

/**
 * Checks what the library uses unverified: the ID, which it looks up, and the transports, which it stores. Null if they
 * are malformed.
 */
function checkedCredential(credential: PasskeyJson): (Record<string, unknown> & { id: string }) | null {
  const { id, response } = credential;
  if (typeof id !== 'string' || !CREDENTIAL_ID.test(id) || typeof response !== 'object' || response === null)
    return null;
  const transports: unknown = 'transports' in response ? (response.transports ?? []) : [];
  const plain = Array.isArray(transports) && transports.length <= 10;
  if (!plain || !transports.every((one) => typeof one === 'string' && TRANSPORT.test(one))) return null;
  return { ...credential, id };
}

interface PasskeyParts {
  readonly store: Pick<Store, 'signIns'>;
  readonly notify: NotifyUser;
  readonly library: () => Promise<Library>;
  readonly limits: Limits;
  readonly devices: Devices;
  readonly audit: UserAudit;
  /** Null: passkeys cannot be bound to the service's public URL. */
  readonly relyingParty: () => string | null;
  /** Ends the browser's previous session. */
  readonly endPreviousSession: (browser: BrowserRequest) => Promise<void>;
}

/** Passkeys (WebAuthn Level 3). Options and credentials are in the JSON form used by browsers. */
export function createPasskeys(parts: PasskeyParts) {
  const { library, limits, devices, audit, notify, relyingParty, endPreviousSession } = parts;
  const { signIns } = parts.store;
  function requireRelyingParty(): void {
    if (relyingParty() !== null) return;
    const message = 'Passkeys need a host name: the operator must set MAILVET_PUBLIC_URL to one, not to an IP address.';
    throw new ApiError('passkey_refused', message);
  }
  function requireRoom(passkeys: number): void {
    if (passkeys < PASSKEYS_MAX) return;
    throw new ApiError('passkey_refused', `At most ${PASSKEYS_MAX} passkeys are allowed. Remove one first.`);
  }
  /** Verifies a passkey. The library begins a session of its user. */
  async function verify(browser: BrowserRequest, credential: PasskeyJson, errors: ErrorMapping) {
    const response = checkedCredential(credential);
    if (response === null) return null;
    const { api } = await library();
    // The library's type assumes a valid credential, which only the verification can establish.
    const body = { response: response as never };
    const call = { body, headers: headersOf(browser, 'passkey'), returnHeaders: true } as const;
    const done = await callLibrary(errors, () => api.verifyPasskeyAuthentication(call));
    await signIns.markPasskeyUsed(response.id);
    return done;
  }

  async function ownerOf(credentialId: unknown): Promise<string | null> {
    if (typeof credentialId !== 'string' || !CREDENTIAL_ID.test(credentialId)) return null;
    const { adapter } = await (await library()).$context;
    const where = [{ field: 'credentialID', value: String(credentialId) }];
    return (await adapter.findOne<{ userId: string }>({ model: 'passkey', where }))?.userId ?? null;
  }

  return {
    list: (user: SignedIn) => signIns.passkeys(user.id),

    async addOptions(browser: BrowserRequest, user: SignedIn) {
      requireRelyingParty();
      requireRoom((await signIns.passkeys(user.id)).length);
      const { api } = await library();
      const made = await callLibrary({}, () =>
        api.generatePasskeyRegistrationOptions({ headers: headersOf(browser, 'session_token'), returnHeaders: true }),
      );
      return { options: { ...made.response }, setCookie: cookiesOf(made.headers) };
    },

    /** Mails the user, as `remove`. */
    async add(
      browser: BrowserRequest,
      user: SignedIn,
      { name: typed, credential }: { name: string; credential: PasskeyJson },
    ) {
      requireRelyingParty();
      const name = parsePasskeyName(typed);
      const response = checkedCredential(credential);
      if (response === null) throw new ApiError('passkey_refused');
      const { api } = await library();
      const headers = headersOf(browser, 'session_token', 'passkey');
      await inserting(
        'passkey',
        (insert) =>
          signIns.change({ user: user.id, session: user.session }, async (change) => {
            // Again, as others may have been added since `addOptions`.
            requireRoom(await change.countPasskeys());
            const inserted = await insert();
            await notify(change, 'passkey_added', sourceOf(browser));
            await audit.record(change, browser, 'user.passkey_added', { passkey: name });
            return inserted;
          }),
        () => callLibrary(ADD, () => api.verifyPasskeyRegistration({ body: { response, name }, headers })),
      );
    },

    /** False if the user has no such passkey. */
    async remove(browser: BrowserRequest, user: SignedIn, id: string) {
      const context = await (await library()).$context;
      const known = (await signIns.passkeys(user.id)).find((one) => one.id === id);
      return signIns.change({ user: user.id, session: user.session }, async (change) => {
        if (!(await change.removePasskey(id))) return false;
        await endSecondFactor(context, user.id);
        await notify(change, 'passkey_removed', sourceOf(browser));
        await audit.record(change, browser, 'user.passkey_removed', { passkey: known?.name ?? 'Passkey' });
        return true;
      });
    },

    async signInOptions(browser: BrowserRequest) {
      requireRelyingParty();
      await limits.countIp('passkey-ip', await devices.originOf(browser, null));
      const { api } = await library();
      const made = await callLibrary({}, () =>
        api.generatePasskeyAuthenticationOptions({ headers: headersOf(browser), returnHeaders: true }),
      );
      // The library always offers `preferred`, but then rejects a passkey that did not verify the user.
      return { options: { ...made.response, userVerification: 'required' }, setCookie: cookiesOf(made.headers) };
    },

    async signIn(browser: BrowserRequest, credential: PasskeyJson) {
      requireRelyingParty();
      await limits.countIp('sign-in-ip', await devices.originOf(browser, null));
      const claimed = await ownerOf(credential.id);
      const signing = () =>
        inserting(
          'session',
          (insert, user) =>
            recordedSignIn({ signIns, audit }, { browser, user, factor: 'passkey' }, async () => {
              // Removed while it was verified.
              if ((await ownerOf(credential.id)) !== user) throw new ApiError(...REJECTED);
              return insert();
            }),
          () => verify(browser, credential, SIGN_IN),
        );
      const done = await (claimed === null
        ? signing()
        : audit.attempt({ user: { id: claimed }, by: 'anonymous', from: browser, factor: 'passkey' }, signing));
      if (done === null) throw new ApiError(...REJECTED);
      await endPreviousSession(browser);
      const user = done.response.user.id;
      return { user, setCookie: [...cookiesOf(done.headers), ...(await devices.remember(browser, user))] };
    },

    /** Confirms a signed-in user by one of their passkeys, with options of `signInOptions`. Throws ApiError. */
    async confirm(browser: BrowserRequest, user: SignedIn, credential: PasskeyJson) {
      requireRelyingParty();
      await limits.countUser('password', user.id);
      const done = await verify(browser, credential, PASSKEY_ERRORS);
      if (done === null) throw new ApiError('passkey_refused');
      // Nobody gets the session that the library has begun.
      const { internalAdapter } = await (await library()).$context;
      await internalAdapter.deleteSession(done.response.session.token);
      if (done.response.user.id !== user.id)
        throw new ApiError('passkey_refused', 'This passkey belongs to another user.');
      await limits.clear('password', user.id);
    },
  };
}

export type PasskeyService = ReturnType<typeof createPasskeys>;
