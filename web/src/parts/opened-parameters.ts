import { OIDC_RETURN } from './link-token.ts';

/**
 * Names of the parameters with which the document was opened: the router drops those that no page understands. The
 * answer of an OpenID provider is none of them.
 */
export const openedParameters: readonly string[] =
  location.pathname === OIDC_RETURN ? [] : [...new Set(new URLSearchParams(location.search).keys())];
