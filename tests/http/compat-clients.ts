/** The clients that other services publish, unmodified but for the base URL. Most have no types. */
import { createRequire } from 'node:module';
import { request } from '../lab/service.ts';

const require = createRequire(import.meta.url);
export type Json = ReturnType<JSON['parse']>;

const realFetch = globalThis.fetch;

/** NeverBounce's takes only a host, and always uses https. */
const NEVERBOUNCE_HOST = 'neverbounce.test';

/** `url`: of the service, once it is there. */
export function compatClients(url: () => string) {
  /** For clients with a fixed scheme or host: their requests go to the service instead. */
  async function redirected(from: string, to: string, act: () => Promise<Json>): Promise<Json> {
    globalThis.fetch = (target, options) => realFetch(String(target).replace(from, url() + to), options);
    try {
      return await act();
    } finally {
      globalThis.fetch = realFetch;
    }
  }

  function neverbounce(key: string, act: (client: Json) => Promise<Json>): Promise<Json> {
    const { default: NeverBounce } = require('neverbounce');
    const client = new NeverBounce({ apiKey: key, opts: { host: NEVERBOUNCE_HOST } });
    return redirected(`https://${NEVERBOUNCE_HOST}`, '', () => act(client));
  }

  async function zerobounce(key: string): Promise<Json> {
    const source: string = require.resolve('@zerobounce/zero-bounce-sdk/src/zero-bounce.js');
    const { ZeroBounceSDK } = await import(source);
    const client = new ZeroBounceSDK();
    client.init(key, `${url()}/compat/zerobounce/v2`);
    return client;
  }

  function emailable(key: string): Json {
    const client = require('emailable')(key);
    client.client.instance.defaults.baseURL = `${url()}/compat/emailable/v1/`;
    return client;
  }

  return {
    neverbounce,
    zerobounce,
    emailable,
    /** The client has the address of its bulk service built in. */
    zerobounceBatch: async (key: string, batch: unknown): Promise<Json> => {
      const client = await zerobounce(key);
      return redirected('https://bulkapi.zerobounce.net', '/compat/zerobounce', () => client.validateBatch(batch));
    },
    reacher: (key: string, email: string, version = 'v1') =>
      request(
        url(),
        'POST',
        `/compat/reacher/${version}/check_email`,
        { to_email: email },
        { 'x-reacher-secret': key },
      ),
    /** Each client's way to verify one address. Throws what the client throws. */
    verify: {
      kickbox: (key: string, email: string) =>
        new Promise<Json>((resolve, reject) => {
          const client = require('kickbox').client(key, { base: url(), api_version: 'compat/kickbox/v2' });
          client
            .kickbox()
            .verify(email, (error: unknown, reply: Json) => (error ? reject(error) : resolve(reply.body)));
        }),
      emailable: (key: string, email: string): Promise<Json> => emailable(key).verify(email),
      neverbounce: (key: string, email: string, addressInfo = false): Promise<Json> =>
        neverbounce(key, async ({ single }) => (await single.check(email, addressInfo, true)).getResponse()),
      zerobounce: async (key: string, email: string): Promise<Json> => (await zerobounce(key)).validateEmail(email),
    },
  };
}
