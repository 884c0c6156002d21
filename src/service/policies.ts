import { LRUCache } from 'lru-cache';
import { within } from '../kernel/bounded-wait.ts';
import { ApiError, type ErrorCode, toApiError } from '../kernel/errors.ts';
import {
  POLICY_LANGUAGES_MAX,
  POLICY_MESSAGE_LENGTH,
  POLICY_TRIED_ON,
  STORE_WAIT_SECONDS,
} from '../kernel/facts/limits.ts';
import type { Level } from '../kernel/facts/plans.ts';
import {
  BUILT_IN_POLICIES,
  builtInPolicy,
  DECISION_GROUNDS,
  type Decision,
  type DecisionGround,
  decide,
  decideOutage,
  type JudgedReply,
  type LanguageTexts,
  NO_RULES,
  type Policy,
  type PolicyAction,
  type PolicyRules,
  type Signal,
} from '../kernel/facts/policies.ts';
import { span } from '../kernel/format.ts';
import type { AccountId, Store } from '../store/store.ts';
import { actorFor, type ChangedBy } from './audit-log.ts';
import { UNSAFE_CHARACTERS } from './link-text.ts';

/** A policy as it is listed. Times in ms; null: it is built in. */
export interface ListedPolicy extends Policy {
  readonly createdAt: number | null;
  readonly changedAt: number | null;
}

/** The rules of a request; what is missing has its default. */
interface RulesInput {
  readonly signals?: Readonly<Partial<Record<Signal, PolicyAction>>> | undefined;
  readonly validation_type: Level;
  readonly timeout_ms: number;
  readonly on_outage: PolicyAction;
  readonly messages?: Readonly<Partial<Record<DecisionGround, LanguageTexts>>> | undefined;
}

/** What rules say of verifications that were made already. */
interface Tried {
  readonly tried: number;
  readonly decided: Readonly<Record<PolicyAction, number>>;
  /** The items are verifications that are not accepted; the newest comes first. */
  readonly items: readonly {
    readonly id: string;
    readonly email: string;
    readonly createdAt: number;
    readonly decision: Decision;
  }[];
}

/** Errors that mean that there is no verdict, through no fault of the request. */
const OUTAGE_CODES: ReadonlySet<ErrorCode> = new Set([
  'verification_unavailable',
  'overloaded',
  'internal_error',
  'rate_limit_exceeded',
  'insufficient_credits',
  'key_budget_spent',
  'plan_upgrade_required',
  'too_many_mailboxes',
  'seen_disabled',
]);

/** What the policy says where a verification ended with this error; null: the request has to be corrected. */
const outageDecision = (
  { code }: Pick<ApiError, 'code'>,
  policy: PolicyRules,
  language: string | null,
): Decision | null => (OUTAGE_CODES.has(code) ? decideOutage(policy, language) : null);

/** The error, with what the policy says where it means that there is no verdict. */
export function withOutageDecision(thrown: unknown, policy: PolicyRules | null, language: string | null): ApiError {
  const error = toApiError(thrown);
  const decision = policy && outageDecision(error, policy, language);
  return decision === null ? error : error.withDetails({ decision });
}

/** Policies that a process remembers for when the store does not answer. */
const LAST_READ_MAX = 500;
/** After so long, a policy that was read before is taken instead: the charge waits for the store as well. */
const LAST_READ_AFTER_MS = 1_000;

const BUILT_IN: readonly ListedPolicy[] = BUILT_IN_POLICIES.map((policy) => ({
  ...policy,
  createdAt: null,
  changedAt: null,
}));

export function createPolicyService(store: Pick<Store, 'policies' | 'keys' | 'verifications' | 'hooks'>) {
  const { policies, keys, verifications, hooks } = store;
  const actorOf = actorFor(keys);
  const lastRead = new LRUCache<string, Policy>({ max: LAST_READ_MAX });

  const find = async (account: AccountId, name: string): Promise<Policy | null> =>
    builtInPolicy(name) ?? (await policies.get(account, name));

  async function notFound(account: AccountId, name: string): Promise<ApiError> {
    const names = [...BUILT_IN_POLICIES, ...(await policies.list(account))].map((policy) => policy.name);
    const message = `There is no policy ${JSON.stringify(name)}; there are ${names.join(', ')}.`;
    return new ApiError('policy_not_found', message, { field: 'policy', policies: names });
  }

  async function read(keyHash: string, name: string): Promise<Policy | ApiError> {
    const account = await policies.accountOfKey(keyHash);
    // An unknown key is an error of the admission.
    if (account === null) return new ApiError('policy_not_found');
    return (await policies.get(account, name)) ?? (await notFound(account, name));
  }

  const assertOwn = (name: string): void => {
    if (builtInPolicy(name) !== null) throw new ApiError('policy_built_in', undefined, { field: 'name' });
  };

  return {
    /** Built-in ones come first, then the others by name. */
    async all(account: AccountId) {
      return [...BUILT_IN, ...(await policies.list(account))];
    },
    /** Throws ApiError `not_found`. */
    async get(account: AccountId, name: string) {
      const found = BUILT_IN.find((policy) => policy.name === name) ?? (await policies.get(account, name));
      if (found === null) throw new ApiError('not_found', `There is no policy ${JSON.stringify(name)}.`);
      return found;
    },
    /**
     * The policy that a request names, for its decision. Throws ApiError `policy_not_found`, with the names there are.
     */
    async named(account: AccountId, name: string) {
      const found = await find(account, name);
      if (found === null) throw await notFound(account, name);
      return found;
    },
    /**
     * The same for whoever holds a key that was not admitted yet: the error is returned, to be thrown once the key has
     * been. Where the store does not answer, the policy as this process has read it last; throws ApiError
     * `verification_unavailable` where it has not.
     */
    async ofKey(keyHash: string, name: string) {
      const builtIn = builtInPolicy(name);
      if (builtIn !== null) return builtIn;
      const id = `${keyHash}\n${name}`;
      const last = lastRead.get(id);
      try {
        const ms = last === undefined ? STORE_WAIT_SECONDS * 1000 : LAST_READ_AFTER_MS;
        const found = await within({ ms }, () => read(keyHash, name));
        if (found instanceof ApiError) lastRead.delete(id);
        else lastRead.set(id, found);
        return found;
      } catch (error) {
        if (last !== undefined) return last;
        throw new ApiError('verification_unavailable', undefined, { retry_after: 5 }, error);
      }
    },
    /** Creates or replaces it. Throws ApiError: `policy_built_in`, `invalid_policy`, `too_many_policies`. */
    async save(account: AccountId, name: string, input: RulesInput, by: ChangedBy) {
      assertOwn(name);
      return policies.put(account, { name, ...rulesIn(input) }, await actorOf(by));
    },
    /** What the rules would have said of the newest POLICY_TRIED_ON verifications. */
    async tried(account: AccountId, rules: PolicyRules): Promise<Tried> {
      const rows = await verifications.newest(account, POLICY_TRIED_ON);
      const decided = { accept: 0, review: 0, reject: 0 };
      const items = rows.flatMap(({ id, email, body, createdAt }) => {
        const reply: JudgedReply = JSON.parse(body);
        const decision = decide(rules, reply);
        decided[decision.action] += 1;
        return decision.action === 'accept' ? [] : [{ id, email, createdAt, decision }];
      });
      return { tried: rows.length, decided, items };
    },
    /** Throws ApiError: `policy_built_in`, `policy_in_use`, `not_found`. */
    async remove(account: AccountId, name: string, by: ChangedBy) {
      assertOwn(name);
      const using = (await hooks.list(account)).filter(({ policy }) => policy === name).map((hook) => hook.name);
      if (using.length > 0) {
        const message = `Auth hooks use the policy ${name}: ${using.join(', ')}. Without it, they would accept everything.`;
        throw new ApiError('policy_in_use', message, { hooks: using });
      }
      if (!(await policies.remove(account, name, await actorOf(by))))
        throw new ApiError('not_found', `There is no policy ${JSON.stringify(name)}.`);
    },
  };
}

export type PolicyService = ReturnType<typeof createPolicyService>;

/** Throws ApiError `invalid_policy`. */
export const rulesIn = (input: RulesInput): PolicyRules => ({
  signals: { ...NO_RULES.signals, ...input.signals },
  level: input.validation_type,
  timeoutMs: input.timeout_ms,
  onOutage: input.on_outage,
  messages: Object.fromEntries(
    DECISION_GROUNDS.flatMap((ground) => {
      const texts = textsIn(`messages.${ground}`, input.messages?.[ground] ?? {});
      return Object.keys(texts).length === 0 ? [] : [[ground, texts] as const];
    }),
  ),
});

function textsIn(field: string, texts: LanguageTexts): LanguageTexts {
  const found = new Map<string, string>();
  for (const [language, text] of Object.entries(texts)) {
    const of = `${field}.${language.slice(0, 40)}`;
    const tag = canonicalTag(language);
    if (tag === null) throw invalidPolicy(of, 'is not for a language: use a tag such as "en", "de-CH" or "zh-Hant".');
    if (found.has(tag)) throw invalidPolicy(of, 'is a second text for the same language.');
    const plain = text.trim();
    const { min, max } = POLICY_MESSAGE_LENGTH;
    const length = [...plain].length;
    if (length < min || length > max) throw invalidPolicy(of, `must have ${span(POLICY_MESSAGE_LENGTH)} characters.`);
    if (plain.search(UNSAFE_CHARACTERS) !== -1)
      throw invalidPolicy(of, 'must be one line of plain text, without control or invisible characters.');
    found.set(tag, plain);
  }
  if (found.size > POLICY_LANGUAGES_MAX) throw invalidPolicy(field, `has more than ${POLICY_LANGUAGES_MAX} languages.`);
  return Object.fromEntries(found);
}

const invalidPolicy = (field: string, what: string) => new ApiError('invalid_policy', `${field} ${what}`, { field });

/** BCP 47; null: it is no tag. Languages have two or three letters, whatever else the form allows. */
function canonicalTag(language: string): string | null {
  if (!/^[a-z]{2,3}(-|$)/i.test(language)) return null;
  try {
    return Intl.getCanonicalLocales(language)[0] ?? null;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
