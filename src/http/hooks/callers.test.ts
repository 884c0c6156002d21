import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { SAMPLE_BODIES, SIGNED } from '../../../tests/lab/hook-callers.ts';
import { HOOK_KINDS, type HookKind } from '../../kernel/facts/hooks.ts';
import type { Decision } from '../../kernel/facts/policies.ts';
import { newWebhookSecret } from '../../kernel/ids.ts';
import { HOOK_CALLERS } from './callers.ts';

const NOW = Date.UTC(2026, 10, 26, 12);
const SECRETS: Readonly<Record<HookKind, string>> = {
  supabase: `v1,${newWebhookSecret()}`,
  workos: 'wh_secret_123456789',
  kratos: newWebhookSecret(),
  zitadel: 'signing-key-of-a-target',
  generic: newWebhookSecret(),
};
const lowerCase = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

function signed(kind: HookKind, email: string | null = 'jane@good.com') {
  const body = JSON.stringify(SAMPLE_BODIES[kind](email));
  const headers = lowerCase(SIGNED[kind]({ secret: SECRETS[kind], body, id: 'msg_1', at: NOW }));
  return { body: Buffer.from(body), headers };
}

describe.each(HOOK_KINDS)('a call of %s', (kind) => {
  const { claimOf, signUpOf } = HOOK_CALLERS[kind];

  it('has its address where the sample has it, and none in a sign-up without one', () => {
    expect(signUpOf(SAMPLE_BODIES[kind](' jane@good.com '))).toMatchObject({ email: 'jane@good.com' });
    for (const body of [SAMPLE_BODIES[kind](null), null, [], 'text', 7, { email: { email: 1 } }])
      expect(signUpOf(body)).toMatchObject({ email: null });
    expect(signUpOf(SAMPLE_BODIES[kind]('x'.repeat(60_000))).email?.length).toBe(1024);
  });

  it('fits its secret and no other, and no other body', () => {
    const { body, headers } = signed(kind);
    const claim = claimOf(headers);
    expect(claim?.fits(SECRETS[kind], body)).toBe(true);
    expect(claim?.fits(SECRETS[kind].replace(/.{3}$/, 'AAA'), body)).toBe(false);
    // Ory signs nothing.
    if (kind !== 'kratos') expect(claim?.fits(SECRETS[kind], Buffer.concat([body, Buffer.from(' ')]))).toBe(false);
    expect(claim?.at).toBe(kind === 'kratos' ? null : NOW);
  });

  it('without one of its headers is none', () => {
    const { headers } = signed(kind);
    for (const name of Object.keys(headers).filter((name) => name !== 'ory-webhook-trigger-id'))
      expect(claimOf({ ...headers, [name]: undefined }), name).toBe(null);
  });

  it('may have any headers and any body', () => {
    const text = fc.oneof(fc.string({ maxLength: 200 }), fc.constantFrom('t=1,v1=', 'v1,AAAA', 'Bearer ', '1e9', '-1'));
    const names = Object.keys(signed(kind).headers);
    fc.assert(
      fc.property(fc.record(Object.fromEntries(names.map((name) => [name, text]))), fc.anything(), (headers, body) => {
        const claim = claimOf(headers);
        if (claim !== null) expect(claim.fits(SECRETS[kind], Buffer.from('x'))).toBe(false);
        const { email } = signUpOf(body);
        expect(email === null || email.length > 0).toBe(true);
      }),
    );
  });
});

describe('signatures', () => {
  it('of several secrets are all looked at, separated as Supabase does or as the specification says', () => {
    const { body, headers } = signed('supabase');
    const right = headers['webhook-signature'] ?? '';
    const other = new Webhook(newWebhookSecret()).sign('msg_1', new Date(NOW), body.toString());
    for (const both of [`${other}, ${right}`, `${other} ${right}`, `v1a,abc ${right}`, `${right}, ${other}`]) {
      const claim = HOOK_CALLERS.supabase.claimOf({ ...headers, 'webhook-signature': both });
      expect(claim?.fits(SECRETS.supabase, body), both).toBe(true);
    }
  });

  it('of ZITADEL may be several, too', () => {
    const { body, headers } = signed('zitadel');
    const [time, right] = (headers['zitadel-signature'] ?? '').split(',');
    const both = `${time},v1=${'0'.repeat(64)},${right}`;
    expect(HOOK_CALLERS.zitadel.claimOf({ 'zitadel-signature': both })?.fits(SECRETS.zitadel, body)).toBe(true);
  });
});

describe('what a caller is answered', () => {
  const signer = { secret: SECRETS.workos, now: NOW };
  const ACCEPT: Decision = { action: 'accept', because: [], message: null };
  const REVIEW: Decision = { action: 'review', because: ['typo'], message: 'Did you mean jane@gmail.com?' };
  const REJECT: Decision = { action: 'reject', because: ['disposable'], message: 'Use a permanent email address.' };

  it.each([
    ['supabase', ACCEPT, 200, {}],
    ['supabase', REVIEW, 200, {}],
    ['supabase', REJECT, 200, { error: { http_code: 400, message: 'Use a permanent email address.' } }],
    ['zitadel', ACCEPT, 200, {}],
    ['zitadel', REVIEW, 200, {}],
    ['zitadel', REJECT, 200, { forwardedStatusCode: 400, forwardedErrorMessage: 'Use a permanent email address.' }],
    ['kratos', ACCEPT, 200, {}],
    ['kratos', REVIEW, 200, {}],
    ['generic', ACCEPT, 200, { action: 'accept', message: null }],
    ['generic', REVIEW, 200, { action: 'review', message: 'Did you mean jane@gmail.com?' }],
    ['generic', REJECT, 200, { action: 'reject', message: 'Use a permanent email address.' }],
  ] as const)('%s: %o', (kind, decision, status, body) => {
    expect(HOOK_CALLERS[kind].replyOf(decision, signer)).toEqual({ status, body });
  });

  it('Ory Kratos: a message for the field', () => {
    const { status, body } = HOOK_CALLERS.kratos.replyOf(REJECT, signer);
    expect(status).toBe(400);
    expect(body).toEqual({
      messages: [
        {
          instance_ptr: '#/traits/email',
          messages: [
            {
              id: expect.any(Number),
              text: 'Use a permanent email address.',
              type: 'error',
              context: { because: ['disposable'] },
            },
          ],
        },
      ],
    });
  });
});
