import * as http from 'node:http';

/**
 * From now on, `fetch` in this thread goes through the proxies of HTTPS_PROXY and HTTP_PROXY, but for the hosts of
 * NO_PROXY, where this Node can (24.14). Connections to mail servers, resolvers and webhooks are not made by `fetch`.
 * Returns whether it can.
 */
export function obeyProxyVariables(): boolean {
  if (!('setGlobalProxyFromEnv' in http && typeof http.setGlobalProxyFromEnv === 'function')) return false;
  http.setGlobalProxyFromEnv();
  return true;
}
