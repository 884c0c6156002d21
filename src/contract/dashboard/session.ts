import Type, { type Static } from 'typebox';
import { CONFIRMED_ACTIONS } from '../../kernel/audit-actions.ts';
import {
  CODE_LENGTH,
  OIDC_QUERY_LENGTH,
  OIDC_TOKEN_LENGTH,
  PASSKEY_NAME_LENGTH,
  PASSKEYS_MAX,
  SESSIONS_LISTED,
  SIGN_IN_ID_LENGTH,
} from '../../kernel/facts/limits.ts';
import { Nullable, OneOf, Text, Time } from '../schema.ts';
import { PlanPrices } from '../usage.ts';
import {
  AccountStatusField,
  Email,
  LinkToken,
  NewPassword,
  Password,
  PersonName,
  PlanField,
  RoleField,
  SecondFactorRequired,
} from './fields.ts';

/** Who is signed in, what they may see, and what the sign-in page offers. Answered to anybody. */
export const SessionReply = Type.Object(
  {
    user: Nullable(
      Type.Object({
        id: Type.String(),
        email: Type.String(),
        name: Type.String(),
        has_password: Type.Boolean({
          description: 'Whether it confirms sensitive actions; others sign in with the OpenID provider again.',
        }),
        /** Whether sign-in requires a code of an authenticator app. */
        second_factor: Type.Boolean(),
        /** Whether this session was begun with a code or a passkey. */
        with_second_factor: Type.Boolean(),
        operator: Type.Boolean(),
      }),
    ),
    accounts: Type.Array(
      Type.Object({
        id: Type.String(),
        name: Type.String(),
        role: RoleField,
        plan: PlanField,
        prices: PlanPrices,
        status: AccountStatusField,
        second_factor_required: SecondFactorRequired,
        test_account: Type.String({ description: 'The account of its test data: `:account` of the same paths.' }),
      }),
    ),
    setup_command: Nullable(
      Type.String({ description: 'Nobody has a sign-in: the command that makes the first one, on the host.' }),
    ),
    /** Whether anyone may sign up. */
    signup: Type.Boolean(),
    /** Whether this service can send mail. */
    mail: Type.Boolean(),
    oidc: Nullable(
      Type.Object({
        name: Type.String({ description: 'Of the OpenID provider: "Continue with Okta".' }),
        only: Type.Boolean({ description: 'There are no passwords and passkeys.' }),
      }),
    ),
    /** Why no mailbox can be checked at all; null: they can, or nobody is signed in. */
    mail_servers: Nullable(Type.Object({ state: OneOf(['port_closed', 'refused_everywhere'] as const), since: Time })),
    /** The request came from this canonical address. */
    ip: Type.String(),
  },
  { title: 'Session' },
);
export type SessionReply = Static<typeof SessionReply>;

export const Done = Type.Object({ status: OneOf(['success'] as const), message: Type.String() }, { title: 'Done' });
export type Done = Static<typeof Done>;

/** `POST /dashboard/setup`: the one-time link of the first start becomes the owner's sign-in. */
export const SetupRequest = Type.Object({ token: LinkToken, name: PersonName, email: Email, password: NewPassword });
export const SignInRequest = Type.Object({ email: Email, password: Password });
export const SignInReply = Type.Object(
  { second_factor: Type.Boolean({ description: 'True: not signed in yet, a code is required next.' }) },
  { title: 'SignIn' },
);
/** `POST /dashboard/sign-in/oidc` */
export const OidcBeginRequest = Type.Object({
  invitation: Type.Optional(LinkToken),
});
export const OidcBeginReply = Type.Object(
  { url: Type.String({ description: 'Of the OpenID provider, where the browser goes next.' }) },
  { title: 'OidcBegin' },
);
/** `POST /dashboard/sign-in/oidc/confirm` */
export const OidcConfirmRequest = Type.Object({ action: OneOf(CONFIRMED_ACTIONS) });
/** `POST /dashboard/sign-in/oidc/finish` */
export const OidcFinishRequest = Type.Object({
  query: Text('query', OIDC_QUERY_LENGTH, {
    description: 'Of the address to which the provider sent the browser, with `code` and `state`.',
  }),
});
export const OidcFinishReply = Type.Object(
  {
    ...SignInReply.properties,
    confirmed: Nullable(
      OneOf(CONFIRMED_ACTIONS, { description: 'The user was signed in and has confirmed this action.' }),
    ),
  },
  { title: 'OidcFinish' },
);
/** Back-Channel Logout 1.0 §2.5 sends a form. */
export const OidcLogoutRequest = Type.Object({
  logout_token: Text('logout_token', OIDC_TOKEN_LENGTH, { description: 'A logout token of the provider.' }),
});
const Code = Text('code', CODE_LENGTH, {
  description: 'Six digits of the authenticator app, or a recovery code.',
  'x-error': 'code must be the six digits of the authenticator app, or a recovery code.',
});
export const CodeRequest = Type.Object({ code: Code });
export const SignUpRequest = Type.Object({ name: PersonName, email: Email, password: NewPassword });
export const EmailRequest = Type.Object({ email: Email });
export const SuggestionReply = Type.Object(
  { did_you_mean: Nullable(Type.String({ description: 'The address that was probably meant.' })) },
  { title: 'Suggestion' },
);
export const TokenRequest = Type.Object({ token: LinkToken });
const KeptIds = (max: number) =>
  Type.Array(Text('id', SIGN_IN_ID_LENGTH), {
    maxItems: max,
    'x-error': `keep must list at most ${max} IDs of sessions or passkeys.`,
  });
export const NewPasswordRequest = Type.Object({
  token: LinkToken,
  password: NewPassword,
  keep: Type.Optional(
    Type.Object(
      { sessions: KeptIds(SESSIONS_LISTED), passkeys: KeptIds(PASSKEYS_MAX) },
      { description: 'What not to end and remove; by default nothing is kept.' },
    ),
  ),
});
export const ChangePasswordRequest = Type.Object({ current: Password, password: NewPassword });
export const ProfileRequest = Type.Object({ name: PersonName });

export const TotpReply = Type.Object(
  {
    uri: Type.String({ description: '`otpauth://totp/…`, for a QR code.' }),
    secret: Type.String({ description: 'The same secret in base32, for typing it in.' }),
    recovery_codes: Type.Array(Type.String()),
  },
  { title: 'Totp' },
);

const SESSION = {
  id: Type.String(),
  device: Type.String({ description: 'Browser and operating system, as the browser claims.' }),
  ip: Nullable(Type.String({ description: 'Where it was last seen.' })),
  signed_in_at: Time,
  last_seen_at: Time,
};
export const SessionsReply = Type.Object(
  {
    sessions: Type.Array(
      Type.Object({ ...SESSION, current: Type.Boolean({ description: 'The session of this request.' }) }),
    ),
  },
  { title: 'Sessions' },
);

const Passkey = Type.Object({
  id: Type.String(),
  name: Type.String(),
  created_at: Time,
  last_used_at: Nullable(Time),
});
export const PasskeysReply = Type.Object({ passkeys: Type.Array(Passkey) }, { title: 'Passkeys' });
/**
 * It is in the JSON form of the Web Authentication API (WebAuthn Level 3 §5.1.8–5.1.10), passed to the browser
 * unchanged.
 */
export const PasskeyOptions = Type.Object(
  { options: Type.Record(Type.String(), Type.Unknown()) },
  { title: 'PasskeyOptions' },
);
const Credential = Type.Record(Type.String(), Type.Unknown(), {
  description: 'PublicKeyCredential.toJSON().',
  'x-error': 'credential must be what the browser made of the options.',
});
export const PasskeyCreateRequest = Type.Object({
  name: Text('name', PASSKEY_NAME_LENGTH),
  credential: Credential,
});
/** One of them confirms who is there. */
export const ConfirmRequest = Type.Object({
  password: Type.Optional(Password),
  code: Type.Optional(Code),
  credential: Type.Optional(Credential),
  oidc: Type.Optional(
    Type.Literal(true, { description: 'The user has signed in with the OpenID provider again, for this action.' }),
  ),
});
/** What a link to choose a password would end and remove. */
export const ResetLookupReply = Type.Object(
  { email: Type.String(), passkeys: Type.Array(Passkey), sessions: Type.Array(Type.Object(SESSION)) },
  { title: 'ResetLookup' },
);
export const PasskeySignInRequest = Type.Object({ credential: Credential });

export const InvitationLookupReply = Type.Object(
  {
    account: Type.Object({ name: Type.String() }),
    email: Type.String(),
    role: RoleField,
    /** Whether this address signs in already: then no password is chosen. */
    known: Type.Boolean(),
  },
  { title: 'InvitationLookup' },
);
export const InvitationAcceptRequest = Type.Object({
  token: LinkToken,
  /** Both only where the address is not known yet. */
  name: Type.Optional(PersonName),
  password: Type.Optional(NewPassword),
});
