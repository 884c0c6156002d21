/** Verifications for routes of other services are charged, limited, filtered and logged like those of `/v1/verify`. */
import { LRUCache } from 'lru-cache';
import type { VerifyReply } from '../../contract/verify.ts';
import { ApiError } from '../../kernel/errors.ts';
import { ADDRESS_LENGTH } from '../../kernel/facts/limits.ts';
import { DEFAULT_LEVEL, type Level } from '../../kernel/facts/plans.ts';
import { requireAdmission } from '../access/api-key.ts';
import type { HttpContext } from '../context.ts';
import { disconnectSignal, type HttpRequest, isDisconnected } from '../exchange.ts';
import { formText, isForm, withPluses } from '../input/reader.ts';
import type { ChargedKeyContext } from '../route.ts';

interface CompatVerification {
  /** As it was sent. */
  readonly email: unknown;
  /** Names the field in the vendor's contract. */
  readonly field: string;
  readonly timeoutMs: number;
  /** The address of the end user is canonical; null means the caller's. */
  readonly clientIp?: string | null;
}

type CompatRequest = Omit<CompatVerification, 'email' | 'field'> & { readonly email: string };

/**
 * Keys whose plan lacks the smtp level are remembered this long, so that only the first of their requests asks for it.
 */
const LEVELS_REMEMBERED_MS = 60_000;
const REMEMBERED_KEYS = 10_000;

export type VerifyForVendor = (
  granted: ChargedKeyContext,
  asked: CompatVerification,
) => Promise<{ readonly report: VerifyReply; readonly balance: number }>;

/** An address is refused where ours is: by its length alone. */
const isSentAddress = (email: unknown): email is string =>
  typeof email === 'string' && email.length >= ADDRESS_LENGTH.min && email.length <= ADDRESS_LENGTH.max;

/** Restores the pluses that its query or form has. */
function addressField(request: HttpRequest, field: string, text: string): string {
  const { url } = request;
  const query = withPluses(url.slice(url.indexOf('?') + 1), field, text, 'plus');
  return isForm(request) ? withPluses(formText(request), field, query, 'plus') : query;
}

/** Verifies at the smtp level where the plan has it, else at the mx level. Throws ApiError. */
export function verifyForVendor(context: HttpContext): VerifyForVendor {
  let withoutSmtp: LRUCache<string, true> | null = null;

  async function at(level: Level, granted: ChargedKeyContext, { email, timeoutMs, clientIp }: CompatRequest) {
    const { keyHash, test, ip, reply, via } = granted;
    return context.verify.verify({
      keyHash,
      test,
      ip,
      via,
      email,
      level,
      timeoutMs,
      idempotency: null,
      withEvidence: false,
      clientIp: clientIp ?? ip,
      hasDisconnected: () => isDisconnected(reply),
      signal: () => disconnectSignal(reply),
    });
  }

  return async (granted, { email: sent, field, ...rest }) => {
    const { keyHash, ip, reply, request } = granted;
    const email = typeof sent === 'string' ? addressField(request, field, sent) : sent;
    if (!isSentAddress(email)) {
      // Its account sees it, as it does any other request that cannot be used.
      const credentials = { keyHash, scope: 'verify', ip, invalid: true, idempotency: null } as const;
      requireAdmission(
        context,
        granted,
        await context.admission.admit({ ...credentials, hasDisconnected: () => isDisconnected(reply) }),
      );
      throw new ApiError('invalid_parameter', `${field} is missing or too long.`, { field });
    }
    const asked = { email, ...rest };
    const known = withoutSmtp?.get(keyHash) === true;
    let outcome = await at(known ? DEFAULT_LEVEL : 'smtp', granted, asked);
    if (outcome.outcome === 'refused' && outcome.code === 'plan_upgrade_required') {
      withoutSmtp ??= new LRUCache({ max: REMEMBERED_KEYS, ttl: LEVELS_REMEMBERED_MS });
      withoutSmtp.set(keyHash, true);
      outcome = await at(DEFAULT_LEVEL, granted, asked);
    }
    requireAdmission(context, granted, 'admission' in outcome ? outcome.admission : outcome);
    if (outcome.outcome === 'failed') throw outcome.error;
    if (outcome.outcome !== 'answered') throw new TypeError('A stored reply without an Idempotency-Key.');
    const report: VerifyReply = JSON.parse(outcome.record.body);
    return { report, balance: outcome.balance };
  };
}
