/** Connections with providers that report what became of an account's mail. */
import { createPublicKey } from 'node:crypto';
import { SNS_TOPIC, type Sns } from '../engine/http/sns.ts';
import { ApiError } from '../kernel/errors.ts';
import { OUTCOME_PROVIDER_FACTS, type OutcomeProvider } from '../kernel/facts/sent-mail.ts';
import { randomToken } from '../kernel/ids.ts';
import type { AccountId, Actor, CalledOutcomeSource, OutcomeSource, Store } from '../store/store.ts';
import { parseKeyName } from './names.ts';

export type { CalledOutcomeSource, OutcomeSource, Sns };

/** `secret` is shown only now; null: the provider makes it. */
export interface OutcomeSourceWithSecret {
  readonly source: OutcomeSource;
  readonly secret: string | null;
}

const isPublicKey = (text: string): boolean => {
  try {
    const key = createPublicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' });
    return key.asymmetricKeyType === 'ec';
  } catch {
    return false;
  }
};

/** What a secret of a provider looks like; that of one that has ours is made here. */
const SECRETS: Readonly<Record<OutcomeProvider, { readonly isOne: (text: string) => boolean } | (() => string)>> = {
  ses: { isOne: (text) => SNS_TOPIC.test(text) },
  sendgrid: { isOne: isPublicKey },
  // It becomes a part of a URL.
  postmark: () => randomToken(32),
  brevo: () => randomToken(32),
  mailgun: { isOne: (text) => /^[\x21-\x7e]{8,255}$/.test(text) },
  resend: { isOne: (text) => /^whsec_[A-Za-z0-9+/]{8,200}={0,2}$/.test(text) },
};

/** The secret that a provider shows as it is kept: without the armor of a PEM file. */
const bareSecret = (text: string): string =>
  text.includes('BEGIN PUBLIC KEY') ? text.replaceAll(/-----[A-Z ]{1,30}-----|\s/g, '') : text.trim();

const noSource = () => new ApiError('not_found', 'There is no such connection in this account.');

/** Methods that change something throw ApiError: `not_found` for what is another account's as well. */
export function createOutcomeSourceService({ outcomeSources }: Pick<Store, 'outcomeSources'>, sns: Sns) {
  function secretFor(provider: OutcomeProvider, sent: string | undefined): { kept: string; shown: string | null } {
    const of = SECRETS[provider];
    if (typeof of === 'function') {
      const secret = of();
      return { kept: secret, shown: secret };
    }
    const { name, secret: what, example } = OUTCOME_PROVIDER_FACTS[provider];
    const secret = bareSecret(sent ?? '');
    if (of.isOne(secret)) return { kept: secret, shown: null };
    const message = `secret must be what ${name} shows: ${what}, such as ${example ?? ''}.`;
    throw new ApiError('invalid_parameter', message, { field: 'secret' });
  }

  return {
    sns,
    /** The oldest comes first. */
    list: (account: AccountId) => outcomeSources.list(account),

    /** Throws ApiError `too_many_outcome_sources`. */
    async create(
      account: AccountId,
      { provider, name }: { readonly provider: OutcomeProvider; readonly name: string },
      by: Actor,
    ) {
      const isOurs = OUTCOME_PROVIDER_FACTS[provider].secretOf === 'us';
      const secret = isOurs ? secretFor(provider, undefined).kept : null;
      return {
        source: await outcomeSources.create(account, { provider, name: parseKeyName(name), secret }, by),
        secret,
      };
    },

    /** `secret`: that of the provider, where it makes it. Throws ApiError `invalid_parameter` where it is none. */
    async roll(
      account: AccountId,
      id: string,
      { secret: sent, graceMs }: { readonly secret?: string | undefined; readonly graceMs: number },
      by: Actor,
    ) {
      const source = await outcomeSources.get(account, id);
      if (source === null) throw noSource();
      const { kept, shown } = secretFor(source.provider, sent);
      const rolled = await outcomeSources.roll(account, id, kept, graceMs, by);
      if (rolled === null) throw noSource();
      return { source: rolled, secret: shown };
    },

    async remove(account: AccountId, id: string, by: Actor) {
      if (!(await outcomeSources.remove(account, id, by))) throw noSource();
    },

    /** That is called, of whatever account; null where there is none. */
    called: (id: string) => outcomeSources.find(id),
  };
}

export type OutcomeSourceService = ReturnType<typeof createOutcomeSourceService>;
