/**
 * How auth servers call hooks: bodies as their documentation and sources print them, and signatures as they make them.
 * All as of 2026-11-26; docs/auth-hooks.md has the links.
 */
import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { HookKind } from '../../src/kernel/facts/hooks.ts';

/** The address of the sample is replaced, so that the lab knows its domain; null: there is none. */
export const SAMPLE_BODIES: Readonly<Record<HookKind, (email: string | null) => unknown>> = {
  // https://supabase.com/docs/guides/auth/auth-hooks/before-user-created-hook
  supabase: (email) => ({
    metadata: {
      uuid: '8b34dcdd-9df1-4c10-850a-b3277c653040',
      time: '2025-04-29T13:13:24.755552-07:00',
      name: 'before-user-created',
      ip_address: '127.0.0.1',
    },
    user: {
      id: 'ff7fc9ae-3b1b-4642-9241-64adb9848a03',
      aud: 'authenticated',
      role: '',
      email: email ?? '',
      phone: email === null ? '15550100' : '',
      app_metadata: { provider: 'email', providers: ['email'] },
      user_metadata: {},
      identities: [],
      created_at: '0001-01-01T00:00:00Z',
      updated_at: '0001-01-01T00:00:00Z',
      is_anonymous: false,
    },
  }),
  // workos/workos-node, src/actions/fixtures/user-registration-action-context.json
  workos: (email) => ({
    id: '01JATCMZJY26PQ59XT9BNT0FNN',
    user_data: { object: 'user_data', email, first_name: 'Jane', last_name: 'Doe' },
    ip_address: '50.141.123.10',
    user_agent: 'Mozilla/5.0',
    device_fingerprint: 'notafingerprint',
    object: 'user_registration_action_context',
    invitation: {
      object: 'invitation',
      id: '01JBVZWH8HJ855YZ5BWHG1WNZN',
      email,
      expires_at: '2024-10-22T17:12:50.746Z',
      created_at: '2024-10-21T17:12:50.746Z',
      updated_at: '2024-10-21T17:12:50.746Z',
      accepted_at: '2024-10-22T17:13:50.746Z',
      revoked_at: null,
      organization_id: '01JBW46BTKAA98WZN8826XQ2YP',
      inviter_user_id: '01JBVZWAEPWAE3YYKBVT0AF81F',
    },
  }),
  // https://www.ory.com/docs/guides/integrate-with-ory-cloud-through-webhooks, "ctx" of a registration, shortened
  kratos: (email) => ({
    flow: {
      expires_at: '2023-01-31T12:19:35.782238Z',
      id: 'cec1c06e-48eb-4f9d-abf1-2e287371f4eb',
      issued_at: '2023-01-31T11:19:35.782238Z',
      oauth2_login_challenge: null,
      request_url: 'https://playground.projects.oryapis.com/self-service/registration/browser?return_to=',
      transient_payload: { custom_data: 'test' },
      type: 'browser',
    },
    identity: {
      created_at: '0001-01-01T00:00:00Z',
      id: '3a5293f1-f4d6-49f4-b34f-6da62c360604',
      metadata_public: null,
      schema_id: 'default',
      state: 'active',
      traits: email === null ? {} : { email },
      updated_at: '0001-01-01T00:00:00Z',
    },
    request_headers: { 'Accept-Language': ['en-GB,en-US;q=0.9,en;q=0.8'], 'True-Client-Ip': ['192.0.2.7'] },
    request_method: 'POST',
  }),
  // https://zitadel.com/docs/guides/integrate/actions/testing-request-signature
  zitadel: (email) => ({
    fullMethod: '/zitadel.user.v2.UserService/AddHumanUser',
    instanceID: '262851882718855632',
    orgID: '262851882718921168',
    projectID: '262851882719052240',
    userID: '262851882718986704',
    request: {
      profile: { given_name: 'Example_given', family_name: 'Example_family' },
      email: email === null ? {} : { email },
    },
  }),
  generic: (email) => (email === null ? {} : { email, ip: '192.0.2.7' }),
};

interface SignedCall {
  readonly secret: string;
  readonly body: string;
  readonly id: string;
  /** ms */
  readonly at: number;
}
type Headers = Record<string, string>;

/** As `standardwebhooks` signs; Supabase gives it the secret without the version before it. */
function standardHeaders({ secret, body, id, at }: SignedCall): Headers {
  const date = new Date(at);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at / 1000)),
    'webhook-signature': new Webhook(secret.replace(/^v1,/, '')).sign(id, date, body),
  };
}
const hex = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest('hex');

/** The headers of a call; `secret`: of the hook. */
export const SIGNED: Readonly<Record<HookKind, (call: SignedCall) => Headers>> = {
  supabase: standardHeaders,
  workos: ({ secret, body, at }) => ({ 'WorkOS-Signature': `t=${at}, v1=${hex(secret, `${at}.${body}`)}` }),
  kratos: ({ secret, id }) => ({ authorization: `Bearer ${secret}`, 'Ory-Webhook-Trigger-ID': id }),
  zitadel({ secret, body, at }) {
    const seconds = Math.floor(at / 1000);
    return { 'ZITADEL-Signature': `t=${seconds},v1=${hex(secret, `${seconds}.${body}`)}` };
  },
  generic: standardHeaders,
};
