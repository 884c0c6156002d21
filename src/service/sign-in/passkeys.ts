import { Refusal } from '../../kernel/errors.ts';
import { asked, type Cookies, cookiesOf, headersOf, type Meanings, type Visitor } from './calls.ts';
import type { Library } from './library.ts';
import type { Limits } from './limits.ts';
import { usablePersonName } from './usable.ts';

type Json = Readonly<Record<string, unknown>>;

export interface Passkey {
  readonly id: string;
  readonly name: string;
  /** ms */
  readonly createdAt: number;
}

/** Passkeys (WebAuthn Level 3). Options and credentials are JSON as browsers give and take it. */
export interface PasskeyService {
  list(visitor: Visitor): Promise<Passkey[]>;
  addOptions(visitor: Visitor): Promise<Cookies & { options: Json }>;
  add(visitor: Visitor, input: { name: string; credential: Json }): Promise<void>;
  /** False where the user has no such passkey. */
  remove(visitor: Visitor, id: string): Promise<boolean>;
  signInOptions(visitor: Visitor): Promise<Cookies & { options: Json }>;
  signIn(visitor: Visitor, credential: Json): Promise<Cookies & { user: string }>;
}

const MOST_PASSKEYS = 20;

const ADD: Meanings = {
  FAILED_TO_VERIFY_REGISTRATION: 'passkey_refused',
  CHALLENGE_NOT_FOUND: ['passkey_refused', 'That took too long: begin again.'],
  YOU_ARE_NOT_ALLOWED_TO_REGISTER_THIS_PASSKEY: 'passkey_refused',
};
const REFUSED = ['sign_in_failed', 'The passkey was not accepted.'] as const;
const SIGN_IN: Meanings = {
  PASSKEY_NOT_FOUND: ['sign_in_failed', 'This passkey is not known here.'],
  CHALLENGE_NOT_FOUND: ['sign_in_failed', 'That took too long: begin again.'],
  UNAUTHORIZED: REFUSED,
  BAD_REQUEST: REFUSED,
};

/** WebAuthn Level 3 §5.1: credential ids have 1023 bytes at most; in base64url. */
const ID = /^[A-Za-z0-9_-]{1,1364}$/;
/** §5.8.4, and room for words to come. */
const TRANSPORT = /^[a-z-]{1,32}$/;

/**
 * What the library takes on trust before it verifies the rest: the id, which it looks up, and the transports, which it
 * keeps. Null where they are not what a browser makes.
 */
function plainCredential(credential: Json): Record<string, unknown> | null {
  const { id, response } = credential;
  if (typeof id !== 'string' || !ID.test(id) || typeof response !== 'object' || response === null) return null;
  const { transports = [] } = response as { transports?: unknown };
  const plain = Array.isArray(transports) && transports.length <= 10;
  if (!plain || !transports.every((one) => typeof one === 'string' && TRANSPORT.test(one))) return null;
  return { ...credential };
}

export interface PasskeyParts {
  readonly library: () => Promise<Library>;
  readonly limits: Limits;
  /** Null: passkeys cannot be bound to the service's address. */
  readonly relyingParty: () => string | null;
  /** Ends the session that the browser had. */
  readonly endOld: (visitor: Visitor) => Promise<void>;
}

export function createPasskeys({ library, limits, relyingParty, endOld }: PasskeyParts): PasskeyService {
  function refuseWithoutName(): void {
    if (relyingParty() !== null) return;
    const sentence =
      'Passkeys need a host name: the operator has to set MAILVET_PUBLIC_URL to one, not to an IP address.';
    throw new Refusal('passkey_refused', sentence);
  }
  const rowsOf = async (visitor: Visitor) => {
    const { api } = await library();
    return asked({}, () => api.listPasskeys({ headers: headersOf(visitor, 'session_token') }));
  };

  return {
    async list(visitor) {
      const rows = await rowsOf(visitor);
      const all = rows.map(({ id, name, createdAt }) => ({
        id,
        name: name ?? 'Passkey',
        createdAt: createdAt?.getTime() ?? 0,
      }));
      return all.sort((a, b) => a.createdAt - b.createdAt);
    },

    async addOptions(visitor) {
      refuseWithoutName();
      if ((await rowsOf(visitor)).length >= MOST_PASSKEYS)
        throw new Refusal('passkey_refused', `At most ${MOST_PASSKEYS} passkeys can be kept: remove one first.`);
      const { api } = await library();
      const made = await asked({}, () =>
        api.generatePasskeyRegistrationOptions({ headers: headersOf(visitor, 'session_token'), returnHeaders: true }),
      );
      return { options: { ...made.response }, setCookie: cookiesOf(made.headers) };
    },

    async add(visitor, { name: typed, credential }) {
      refuseWithoutName();
      const name = usablePersonName(typed);
      const response = plainCredential(credential);
      if (response === null) throw new Refusal('passkey_refused');
      const { api } = await library();
      const headers = headersOf(visitor, 'session_token', 'passkey');
      await asked(ADD, () => api.verifyPasskeyRegistration({ body: { response, name }, headers }));
    },

    async remove(visitor, id) {
      if (!(await rowsOf(visitor)).some((row) => row.id === id)) return false;
      const { api } = await library();
      await asked({}, () => api.deletePasskey({ body: { id }, headers: headersOf(visitor, 'session_token') }));
      return true;
    },

    async signInOptions(visitor) {
      refuseWithoutName();
      await limits.countIp('passkey-ip', visitor.ip);
      const { api } = await library();
      const made = await asked({}, () =>
        api.generatePasskeyAuthenticationOptions({ headers: headersOf(visitor), returnHeaders: true }),
      );
      // The library always says `preferred`, and afterwards refuses a passkey that did not verify its user.
      return { options: { ...made.response, userVerification: 'required' }, setCookie: cookiesOf(made.headers) };
    },

    async signIn(visitor, credential) {
      refuseWithoutName();
      await limits.countIp('sign-in-ip', visitor.ip);
      const response = plainCredential(credential);
      if (response === null) throw new Refusal(...REFUSED);
      const { api } = await library();
      // Its type promises what only verifying it can tell.
      const body = { response: response as never };
      const call = { body, headers: headersOf(visitor, 'passkey'), returnHeaders: true } as const;
      const done = await asked(SIGN_IN, () => api.verifyPasskeyAuthentication(call));
      await endOld(visitor);
      return { user: done.response.user.id, setCookie: cookiesOf(done.headers) };
    },
  };
}
