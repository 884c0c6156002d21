/**
 * An OpenID provider on loopback: discovery, authorization with PKCE, tokens, user info, keys. Honest, unless it is
 * told a lie. Who signs in is decided by the test, not on a page.
 */
import { createHash, createHmac, randomBytes, type webcrypto } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, exportSPKI, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';

const OIDC_CLIENT = { id: 'mailvet-lab', secret: 'a secret of the lab & more' } as const;

export type OidcLie =
  | 'other audience'
  | 'other issuer'
  | 'other nonce'
  | 'no nonce'
  | 'other state'
  | 'alg none'
  | 'key confusion'
  | 'unknown key'
  | 'expired'
  | 'issued for another client'
  | 'mixed-up issuer'
  | 'accepts a code twice'
  | 'endless discovery'
  | 'wrong issuer in discovery'
  | 'slow discovery'
  | 'slow token'
  | 'redirects discovery'
  | 'redirects keys'
  | 'private token endpoint'
  | 'private keys'
  | 'page that is a script'
  | 'user info of another'
  | 'no id token'
  | 'denies'
  | 'no auth_time'
  | 'old auth_time'
  | 'auth_time to come'
  | 'auth_time that is text'
  | 'auth_time from user info';

type Claims = Readonly<Record<string, unknown>>;

interface Grant {
  readonly claims: Claims;
  readonly nonce: string | null;
  readonly challenge: string | null;
  /** When the person has signed in here; null: nobody asked. */
  readonly authTime: number | null;
  readonly redirectUri: string;
  used: boolean;
}

export interface OidcLab {
  readonly issuer: string;
  lie: OidcLie | null;
  /** Who signs in next: at least `sub`. */
  person: Claims;
  /** In the reply of the user info endpoint, beside or in place of what the ID token has. */
  userInfo: Claims | null;
  /** Paths that were asked for. */
  readonly asked: string[];
  /** What a browser does with the address that the service sends it to: the query with which it comes back. */
  authorize(url: string): string;
  rotateKeys(): Promise<void>;
  logoutToken(claims: Claims, header?: Claims): Promise<string>;
  close(): Promise<void>;
}

interface Key {
  readonly id: string;
  readonly privateKey: webcrypto.CryptoKey;
  readonly publicKey: webcrypto.CryptoKey;
}

async function newKey(): Promise<Key> {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
  return { id: randomBytes(6).toString('hex'), privateKey, publicKey };
}

/** Nobody listens there, and nothing may be sent there. */
const PRIVATE = 'https://10.0.0.1/token';

/** `path`: of the issuer. */
export async function startOidc(path = ''): Promise<OidcLab> {
  const grants = new Map<string, Grant>();
  let key = await newKey();
  const stranger = await newKey();
  const server = http.createServer((request, response) => {
    handle(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  const base = issuer.replace(/\/$/, '');
  const now = () => Math.floor(Date.now() / 1000);

  const lab: OidcLab = {
    issuer,
    lie: null,
    person: { sub: 'nobody' },
    userInfo: null,
    asked: [],
    authorize,
    async rotateKeys() {
      key = await newKey();
    },
    logoutToken: (claims, header = {}) =>
      sign(
        {
          iss: issuer,
          aud: OIDC_CLIENT.id,
          iat: now(),
          jti: randomBytes(8).toString('hex'),
          events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
          ...claims,
        },
        key,
        header,
      ),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  const sign = (claims: Claims, by: Key, header: Claims = {}) =>
    new SignJWT({ ...claims }).setProtectedHeader({ alg: 'RS256', kid: by.id, ...header }).sign(by.privateKey);

  function authorize(address: string): string {
    const { origin, searchParams: asked } = new URL(address);
    if (origin !== new URL(issuer).origin) throw new Error(`The browser was sent to ${origin}.`);
    const one = (name: string): string => asked.get(name) ?? '';
    if (one('response_type') !== 'code' || one('client_id') !== OIDC_CLIENT.id) throw new Error('not a code flow');
    if (one('code_challenge_method') !== 'S256' || one('state') === '' || !one('scope').split(' ').includes('openid'))
      throw new Error('no PKCE, no state, or no openid');
    const state = lab.lie === 'other state' ? 'x'.repeat(43) : one('state');
    if (lab.lie === 'denies')
      return `?${new URLSearchParams({ error: 'access_denied', error_description: '<b>no</b>', state, iss: issuer })}`;
    const code = randomBytes(16).toString('hex');
    const challenge = asked.get('code_challenge');
    const nonce = asked.get('nonce');
    // The session here is an hour old, and its person is asked again only where the client wants that.
    const authTime = one('max_age') === '' ? null : one('prompt') === 'login' ? now() : now() - 3600;
    grants.set(code, { claims: lab.person, nonce, challenge, authTime, redirectUri: one('redirect_uri'), used: false });
    const iss = lab.lie === 'mixed-up issuer' ? 'https://attacker.example.com' : issuer;
    return `?${new URLSearchParams({ code, state, iss })}`;
  }

  const document = () => ({
    issuer: lab.lie === 'wrong issuer in discovery' ? 'https://attacker.example.com' : issuer,
    authorization_endpoint: lab.lie === 'page that is a script' ? 'javascript:alert(1)' : `${base}/authorize`,
    token_endpoint: lab.lie === 'private token endpoint' ? PRIVATE : `${base}/token`,
    userinfo_endpoint: `${base}/userinfo`,
    jwks_uri: lab.lie === 'private keys' ? PRIVATE : `${base}/keys`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256', 'none', 'HS256'],
    authorization_response_iss_parameter_supported: true,
    backchannel_logout_supported: true,
  });

  /** Core 1.0 §2: seconds. */
  function authTimeOf({ authTime }: Grant): Claims {
    if (authTime === null || lab.lie === 'no auth_time' || lab.lie === 'auth_time from user info') return {};
    if (lab.lie === 'old auth_time') return { auth_time: authTime - 120 };
    if (lab.lie === 'auth_time to come') return { auth_time: authTime + 3600 };
    return { auth_time: lab.lie === 'auth_time that is text' ? String(authTime) : authTime };
  }

  async function idToken(grant: Grant): Promise<string> {
    const { claims, nonce } = grant;
    const { lie } = lab;
    const body = {
      iss: lie === 'other issuer' ? 'https://attacker.example.com' : issuer,
      aud:
        lie === 'other audience'
          ? 'another-client'
          : lie === 'issued for another client'
            ? [OIDC_CLIENT.id, 'another-client']
            : OIDC_CLIENT.id,
      iat: lie === 'expired' ? now() - 7200 : now(),
      exp: lie === 'expired' ? now() - 3600 : now() + 300,
      ...(lie === 'no nonce' || nonce === null ? {} : { nonce: lie === 'other nonce' ? 'of another' : nonce }),
      ...(lie === 'issued for another client' ? { azp: 'another-client' } : {}),
      ...authTimeOf(grant),
      ...claims,
    };
    if (lie === 'alg none') return new UnsecuredJWT(body).encode();
    if (lie === 'unknown key') return sign(body, { ...stranger, id: key.id });
    if (lie === 'key confusion') {
      // Signed with the public key as if it were a shared secret.
      const text = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
      const signed = `${text({ alg: 'HS256', kid: key.id })}.${text(body)}`;
      const mac = createHmac('sha256', await exportSPKI(key.publicKey)).update(signed);
      return `${signed}.${mac.digest('base64url')}`;
    }
    return sign(body, key);
  }

  async function token(request: http.IncomingMessage): Promise<readonly [number, object]> {
    const form = new URLSearchParams(await textOf(request));
    const basic = Buffer.from((request.headers.authorization ?? '').replace(/^Basic /, ''), 'base64').toString();
    const [id, secret] = basic.split(':').map((part) => decodeURIComponent(part.replaceAll('+', ' ')));
    if (id !== OIDC_CLIENT.id || secret !== OIDC_CLIENT.secret) return [401, { error: 'invalid_client' }];
    const grant = grants.get(form.get('code') ?? '');
    const verifier = createHash('sha256').update(form.get('code_verifier') ?? '');
    if (
      grant === undefined ||
      (grant.used && lab.lie !== 'accepts a code twice') ||
      grant.redirectUri !== form.get('redirect_uri') ||
      (grant.challenge !== null && verifier.digest('base64url') !== grant.challenge)
    )
      return [400, { error: 'invalid_grant' }];
    grant.used = true;
    const id_token = lab.lie === 'no id token' ? {} : { id_token: await idToken(grant) };
    return [200, { access_token: form.get('code'), token_type: 'Bearer', expires_in: 300, ...id_token }];
  }

  async function handle(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const path = new URL(request.url ?? '/', issuer).pathname.replace(new URL(base).pathname.replace(/\/$/, ''), '');
    lab.asked.push(path);
    const json = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const isDiscovery = path === '/.well-known/openid-configuration';
    if (isDiscovery && lab.lie === 'redirects discovery')
      return void response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end();
    if (path === '/keys' && lab.lie === 'redirects keys')
      return void response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end();
    if ((isDiscovery && lab.lie === 'slow discovery') || (path === '/token' && lab.lie === 'slow token')) return;
    if (isDiscovery && lab.lie === 'endless discovery') return endless(response);
    if (isDiscovery) return void json(200, document());
    if (path === '/keys') {
      const jwk = await exportJWK(key.publicKey);
      return void json(200, { keys: [{ ...jwk, kid: key.id, use: 'sig', alg: 'RS256' }] });
    }
    if (path === '/authorize') {
      const { href, searchParams } = new URL(request.url ?? '/', base);
      const location = `${searchParams.get('redirect_uri')}${authorize(href)}`;
      return void response.writeHead(302, { location }).end();
    }
    if (path === '/token') return void json(...(await token(request)));
    const grant = grants.get((request.headers.authorization ?? '').replace(/^Bearer /, ''));
    if (path !== '/userinfo' || grant === undefined) return void json(404, { error: 'not_found' });
    const sub = lab.lie === 'user info of another' ? 'somebody else' : grant.claims.sub;
    const more = lab.lie === 'auth_time from user info' ? { auth_time: grant.authTime } : {};
    json(200, { ...grant.claims, ...more, ...lab.userInfo, sub });
  }
  return lab;
}

function endless(response: http.ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const more = () => {
    while (response.write(' '.repeat(16_384)));
    if (!response.destroyed) response.once('drain', more);
  };
  more();
}

async function textOf(request: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** The options of a service that signs in there. */
export const oidcOptions = ({ issuer }: OidcLab): Record<string, string> => ({
  MAILVET_OIDC_ISSUER: issuer,
  MAILVET_OIDC_CLIENT_ID: OIDC_CLIENT.id,
  MAILVET_OIDC_CLIENT_SECRET: OIDC_CLIENT.secret,
  MAILVET_OIDC_NAME: 'Lab ID',
});

/** The claims of a person whose address the provider has verified. */
export const verified = (sub: string, email: string, more: Claims = {}): Claims => ({
  sub,
  email,
  email_verified: true,
  name: 'Lab Person',
  ...more,
});
