import { ApiError } from '../../kernel/errors.ts';

/** Why somebody could not sign in with the OpenID provider, for the page; `NAME` is the provider's. */
export const OIDC_FAILURES = {
  unreachable: 'NAME did not answer in time, or not as it should. Try again in a few minutes.',
  bad_answer: 'NAME sent an answer that cannot be used. Ask the operator of this service to look at its set-up.',
  denied: 'NAME refused to sign you in.',
  code_refused: 'NAME did not accept the code that it had given your browser. Start again.',
  expired: 'This sign-in took too long, was used already, or began in another browser. Start again.',
  wrong_issuer: 'The answer is from another issuer than the one this service trusts.',
  wrong_audience: 'The answer was made for another application than this one.',
  wrong_nonce: 'The answer does not belong to the sign-in that your browser began. Start again.',
  token_expired: 'The answer is out of date. If it happens again, a clock is wrong, of NAME or of this service.',
  bad_signature: 'The signature of the answer does not fit the keys of NAME.',
  no_address: 'NAME did not give your email address, which this service needs.',
  address_not_verified: 'NAME has not verified your email address.',
  domain_not_allowed: 'Addresses of your domain may not sign in here.',
  no_invitation: 'You have no access to this service yet. Ask an account owner for an invitation, and open its link.',
  other_address: 'The invitation is for another address than the one that NAME gave. Ask for one to that address.',
  address_not_proven:
    'Your address has a user here, but nobody has proven to own it. Ask for an invitation by mail, or the operator for a link.',
  other_subject:
    'The user with your address belongs to another person at NAME. Ask the operator to remove that link or the user.',
  other_person: 'You signed in as somebody else at NAME. Start again, as the person who is signed in here.',
  not_fresh: 'NAME did not say that you have signed in just now, so this confirms nothing. Start again.',
  no_role: 'Your groups at NAME give you no role here.',
  no_account: 'The account that new people should join does not exist. Ask the operator of this service.',
} as const;
export type OidcFailure = keyof typeof OIDC_FAILURES;

/** Somebody cannot sign in with the provider. `detail`: for the audit log, of words of ours alone. */
export class OidcError extends Error {
  readonly failure: OidcFailure;
  readonly detail: Readonly<Record<string, string>>;
  constructor(failure: OidcFailure, detail: Readonly<Record<string, string>> = {}, cause?: unknown) {
    super(`OpenID Connect: ${failure}`, cause === undefined ? undefined : { cause });
    this.name = 'OidcError';
    this.failure = failure;
    this.detail = detail;
  }
}

export const oidcRefusal = ({ failure, detail }: OidcError, provider: string): ApiError => {
  const said = detail.error === undefined ? '' : ` (${detail.error})`;
  const message = OIDC_FAILURES[failure].replaceAll('NAME', () => provider).replace(/\.(?= |$)/, () => `${said}.`);
  return new ApiError('oidc_refused', message, { reason: failure });
};
