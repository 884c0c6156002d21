/**
 * The OpenID provider that the service is configured for. Authorization Code Flow with PKCE (OpenID Connect Core 1.0
 * §3.1, RFC 7636), discovery and back-channel logout; openid-client and jose verify what it says. The plug-in of the
 * sign-in library is not used: it would fetch by itself, without the bounds of our client, and link users by address.
 */
import type * as Jose from 'jose';
import type * as OpenId from 'openid-client';
import { isLoopback, type Post } from '../../engine/http/post.ts';
import { type Clock, MINUTE_MS } from '../../kernel/clock.ts';
import type { Role } from '../../kernel/facts/roles.ts';
import { OidcError, type OidcFailure } from './oidc-failures.ts';

/** They come from the options MAILVET_OIDC_*. */
export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  /** Null is for a public client. */
  readonly clientSecret: string | null;
  /** The button shows it. */
  readonly name: string;
  readonly scopes: readonly string[];
  /** Domains are in lower case; null means any. */
  readonly allowedDomains: readonly string[] | null;
  /** Where a first sign-in lands; null: an invitation is needed. */
  readonly account: string | null;
  /** Null: only who has a mapped role gets in. */
  readonly role: Role | null;
  /** Null: `role` is everybody's. */
  readonly roleClaim: string | null;
  readonly roleMap: readonly { readonly value: string; readonly role: Role }[];
  /** Values of `amr` and `acr` that count as a second factor. */
  readonly secondFactor: readonly string[];
  /** It forbids passwords and passkeys. */
  readonly only: boolean;
}

/** What belongs to one sign-in, and is known to this service and the browser alone. */
export interface OidcChecks {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** What the provider says of a person, verified. */
export interface OidcClaims {
  readonly subject: string;
  /** When they last proved to the provider who they are, by its clock, ms; from the ID token alone. Null: not said. */
  readonly authTime: number | null;
  readonly all: Readonly<Record<string, unknown>>;
}

/** Sessions to end: of a subject, of one session of the provider, or of both. */
interface OidcLogout {
  readonly subject: string | null;
  readonly sid: string | null;
  /** Tells the token from others. */
  readonly id: string;
}

/** One request to the provider, ms; a sign-in makes four at most. */
const PROVIDER_REQUEST_MS = 5_000;
/** Of a reply: documents, key sets and tokens with a few hundred groups are smaller. */
const REPLY_BYTES = 256 * 1024;
/** A discovery document is used for so long. */
const DOCUMENT_MS = 10 * MINUTE_MS;
/** What clocks may differ by, s. */
export const TOLERANCE_SECONDS = 30;
/** Back-Channel Logout 1.0 §2.6: of recent tokens only. */
export const LOGOUT_MAX_AGE_MS = 5 * MINUTE_MS;
/** Core 1.0 §2 allows ASCII, and no more than this. */
const SUBJECT = /^[\x20-\x7e]{1,255}$/;
const SID_MAX = 255;
const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';
/** Signatures with a key of the provider's own: not `none`, and not with a secret that is shared. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

/** The provider gave no usable answer. */
class ProviderUnreachable extends Error {}

/** Both libraries say this of a request. */
interface FetchOptions {
  readonly method: string;
  readonly headers: RequestInit['headers'];
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

/** Fetches for the libraries by our one client: no redirects, and bounded. */
function fetchBy(post: Post) {
  return async (url: string, { method, headers, body, signal }: FetchOptions): Promise<Response> => {
    const sent = await post({
      method: method === 'POST' ? 'POST' : 'GET',
      url,
      headers: Object.fromEntries(new Headers(headers)),
      body: body === undefined || body === null ? '' : String(body),
      timeoutMs: PROVIDER_REQUEST_MS,
      replyBytes: REPLY_BYTES + 1,
      bodyMs: PROVIDER_REQUEST_MS,
      signal: signal ?? AbortSignal.timeout(2 * PROVIDER_REQUEST_MS),
    });
    if (sent.error !== null) throw new ProviderUnreachable(`${new URL(url).origin}: ${sent.error}`);
    if (Buffer.byteLength(sent.response) > REPLY_BYTES)
      throw new ProviderUnreachable(`${new URL(url).origin}: the reply is larger than ${REPLY_BYTES} bytes`);
    const bodiless = sent.status < 200 || [204, 205, 304].includes(sent.status);
    if (bodiless) throw new ProviderUnreachable(`${new URL(url).origin}: status ${sent.status}`);
    return new Response(sent.response, { status: sent.status, headers: { 'content-type': sent.type } });
  };
}

/** By the claim whose value is not the expected one. */
const OF_CLAIM: Readonly<Record<string, OidcFailure>> = {
  iss: 'wrong_issuer',
  aud: 'wrong_audience',
  azp: 'wrong_audience',
  nonce: 'wrong_nonce',
  exp: 'token_expired',
  iat: 'token_expired',
  nbf: 'token_expired',
};

/** What the libraries throw, all of which has a cause down to the one that says why. */
function* causesOf(error: unknown): Generator<Error> {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 8; cause = cause.cause, depth += 1) yield cause;
}

/** Undefined where there is none, or nothing to have one. */
const fieldOf = (from: unknown, name: string): unknown =>
  typeof from === 'object' && from !== null ? Reflect.get(from, name) : undefined;

/** As the provider writes it (RFC 6749 §4.1.2.1), where it is one word. */
const errorWord = (text: unknown): string => (/^[a-z_]{1,40}$/.test(String(text)) ? String(text) : 'error');

/** `fallback`: for what has no failure of its own. */
function oidcFailure(error: unknown, fallback: OidcFailure): OidcError {
  if (error instanceof OidcError) return error;
  for (const cause of causesOf(error)) {
    if (cause instanceof ProviderUnreachable || /^OAUTH_(TIMEOUT|ABORT)$/.test(String(fieldOf(cause, 'code'))))
      return new OidcError('unreachable', {}, error);
    // The redirect or the token endpoint has failed.
    if (cause.name === 'AuthorizationResponseError')
      return new OidcError('denied', { error: errorWord(fieldOf(cause, 'error')) }, error);
    if (cause.name === 'ResponseBodyError')
      return new OidcError('code_refused', { error: errorWord(fieldOf(cause, 'error')) }, error);
    const known = OF_CLAIM[String(fieldOf(cause, 'claim') ?? fieldOf(cause.cause, 'claim'))];
    if (known !== undefined) return new OidcError(known, {}, error);
    if (/signature|"alg"|algorithm|no applicable|JWK/i.test(cause.message))
      return new OidcError('bad_signature', {}, error);
    if (/"iss" \(issuer\)/.test(cause.message) || fieldOf(cause.cause, 'attribute') === 'issuer')
      return new OidcError('wrong_issuer', {}, error);
    if (/"nonce"/.test(cause.message)) return new OidcError('wrong_nonce', {}, error);
    if (/"state"/.test(cause.message)) return new OidcError('expired', {}, error);
  }
  return new OidcError(fallback, {}, error);
}

/** All methods throw OidcError. */
export function createOidcProvider(parts: {
  settings: OidcSettings;
  /** `post` may dial this host if the issuer is there. */
  post: Post;
  clock: Clock;
  redirectUri: () => string;
}) {
  const { settings, post, clock, redirectUri } = parts;
  const fetch = fetchBy(post);
  const insecure = new URL(settings.issuer).protocol === 'http:' && isLoopback(new URL(settings.issuer));
  let document: { readonly read: Promise<OpenId.ServerMetadata>; readonly untilMs: number } | null = null;
  let keys: { readonly uri: string; readonly find: Jose.JWTVerifyGetKey } | null = null;
  const openId = (): Promise<typeof OpenId> => import('openid-client');

  /** What is configured alike for each request of openid-client. */
  function prepare(library: typeof OpenId, config: OpenId.Configuration): OpenId.Configuration {
    config[library.customFetch] = fetch;
    config.timeout = (2 * PROVIDER_REQUEST_MS) / 1000;
    if (insecure) library.allowInsecureRequests(config);
    library.enableNonRepudiationChecks(config);
    return config;
  }

  async function discover(): Promise<OpenId.ServerMetadata> {
    const library = await openId();
    const found = await library.discovery(new URL(settings.issuer), settings.clientId, {}, undefined, {
      [library.customFetch]: fetch,
      timeout: (2 * PROVIDER_REQUEST_MS) / 1000,
      execute: insecure ? [library.allowInsecureRequests] : [],
    });
    const metadata = found.serverMetadata();
    if (metadata.issuer !== settings.issuer && metadata.issuer !== `${settings.issuer}/`)
      throw new OidcError('wrong_issuer');
    for (const needed of ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const)
      if (typeof metadata[needed] !== 'string' || !URL.canParse(metadata[needed]))
        throw new OidcError('bad_answer', {}, new Error(`the discovery document has no ${needed}`));
    const scheme = new URL(String(metadata.authorization_endpoint)).protocol;
    // A browser is sent there: nothing but a page of the web.
    if (scheme !== 'https:' && !(insecure && scheme === 'http:'))
      throw new OidcError('bad_answer', {}, new Error('authorization_endpoint is not https'));
    return metadata;
  }

  function metadata(): Promise<OpenId.ServerMetadata> {
    const now = clock.elapsed();
    if (document === null || document.untilMs <= now) {
      const read = discover().catch((error: unknown) => {
        document = null;
        throw oidcFailure(error, 'bad_answer');
      });
      document = { read, untilMs: now + DOCUMENT_MS };
    }
    return document.read;
  }

  /** A new one for each sign-in, so that keys are fetched again: the provider may have rotated them. */
  async function configuration(): Promise<{ library: typeof OpenId; config: OpenId.Configuration }> {
    const [library, server] = await Promise.all([openId(), metadata()]);
    const offered = server.id_token_signing_alg_values_supported?.filter((one) => ALGORITHMS.includes(one)) ?? [];
    const algorithms = offered.length > 0 ? offered : ['RS256'];
    const known = { ...server, id_token_signing_alg_values_supported: algorithms };
    const config = new library.Configuration(
      known,
      settings.clientId,
      { [library.clockTolerance]: TOLERANCE_SECONDS },
      clientAuth(library, server, settings.clientSecret),
    );
    return { library, config: prepare(library, config) };
  }

  async function read(query: string, checks: OidcChecks): Promise<OidcClaims> {
    const { library, config } = await configuration();
    const url = new URL(redirectUri());
    url.search = query;
    const tokens = await library.authorizationCodeGrant(config, url, {
      pkceCodeVerifier: checks.verifier,
      expectedState: checks.state,
      expectedNonce: checks.nonce,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (claims === undefined || !SUBJECT.test(claims.sub)) throw new OidcError('bad_answer');
    const said = { subject: claims.sub, authTime: claims.auth_time === undefined ? null : claims.auth_time * 1000 };
    if (!isIncomplete(claims, settings.roleClaim) || config.serverMetadata().userinfo_endpoint === undefined)
      return { ...said, all: claims };
    const more = await library.fetchUserInfo(config, tokens.access_token, claims.sub);
    // An address and whether it is verified belong together. What is signed counts first.
    const { email, email_verified, ...others } = more;
    const sameAddress = claims.email === undefined || claims.email === email;
    return { ...said, all: { ...(sameAddress ? { email, email_verified } : {}), ...others, ...claims } };
  }

  /** Kept, unlike those of a sign-in: anybody can send a logout token, so a request must not cost one of ours. */
  async function logoutKeys(): Promise<Jose.JWTVerifyGetKey> {
    const { createRemoteJWKSet, customFetch } = await import('jose');
    const uri = String((await metadata()).jwks_uri);
    if (keys?.uri !== uri)
      keys = {
        uri,
        find: createRemoteJWKSet(new URL(uri), { [customFetch]: fetch, timeoutDuration: PROVIDER_REQUEST_MS }),
      };
    return keys.find;
  }

  return {
    /** Fetches the discovery document; throws where the provider cannot be used. */
    async check() {
      await metadata();
    },

    /** Where the browser goes. `fresh`: to sign in there again, whatever session it has there (Core 1.0 §3.1.2.1). */
    async authorizationUrl({ state, nonce, verifier }: OidcChecks, fresh: boolean) {
      const { library, config } = await configuration();
      const url = library.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri(),
        scope: settings.scopes.join(' '),
        code_challenge: await library.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        state,
        nonce,
        ...(fresh ? { prompt: 'login', max_age: '0' } : {}),
      });
      return url.href;
    },

    /** `query` is that of the address to which the provider sent the browser. */
    async claims(query: string, checks: OidcChecks) {
      try {
        return await read(query, checks);
      } catch (error) {
        throw oidcFailure(error, 'bad_answer');
      }
    },

    /** It follows OpenID Connect Back-Channel Logout 1.0 §2.6. */
    async logout(token: string) {
      try {
        const { jwtVerify } = await import('jose');
        const { payload } = await jwtVerify(token, await logoutKeys(), {
          issuer: (await metadata()).issuer,
          audience: settings.clientId,
          algorithms: ALGORITHMS,
          clockTolerance: TOLERANCE_SECONDS,
          maxTokenAge: LOGOUT_MAX_AGE_MS / 1000,
          requiredClaims: ['jti', 'iat'],
        });
        return logoutOf(payload);
      } catch (error) {
        throw oidcFailure(error, 'bad_signature');
      }
    },
  };
}

export type OidcProvider = ReturnType<typeof createOidcProvider>;

/** Whether the user info endpoint may know more: some providers leave out of the ID token what it has. */
const isIncomplete = (claims: Readonly<Record<string, unknown>>, roleClaim: string | null): boolean =>
  claims.email === undefined ||
  (claims.email_verified === undefined && claims.xms_edov === undefined) ||
  (roleClaim !== null && claimOf(claims, roleClaim) === undefined);

/** Core 1.0 §9: with `client_secret_basic`, unless the provider only names the other. */
function clientAuth(
  library: typeof OpenId,
  { token_endpoint_auth_methods_supported: methods }: OpenId.ServerMetadata,
  secret: string | null,
): OpenId.ClientAuth {
  if (secret === null) return library.None();
  const basic = methods === undefined || methods.includes('client_secret_basic');
  return basic ? library.ClientSecretBasic(secret) : library.ClientSecretPost(secret);
}

/** Back-Channel Logout 1.0 §2.4: what tells it from an ID token, and whom it means. */
function logoutOf(payload: Jose.JWTPayload): OidcLogout {
  const { sub, sid, jti, nonce, events } = payload;
  const isEvent = typeof events === 'object' && events !== null && Object.hasOwn(events, LOGOUT_EVENT);
  const subject = typeof sub === 'string' && SUBJECT.test(sub) ? sub : null;
  const session = sidOf(sid);
  if (!isEvent || nonce !== undefined || (subject === null && session === null)) throw new OidcError('bad_answer');
  return { subject, sid: session, id: String(jti) };
}

/** Reads the session at the provider from an ID token or a logout token. */
export const sidOf = (sid: unknown): string | null =>
  typeof sid === 'string' && sid !== '' && sid.length <= SID_MAX ? sid : null;

/** The claim of this name; else, by the parts between its dots, one inside another. */
export function claimOf(claims: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let found: unknown = claims;
  for (const part of name.split('.')) {
    if (typeof found !== 'object' || found === null || Array.isArray(found) || !Object.hasOwn(found, part))
      return undefined;
    found = fieldOf(found, part);
  }
  return found;
}
