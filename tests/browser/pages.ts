/** Every page, with its heading and what is compared of its looks. */

/**
 * Path and heading of those of a signed-in operator; `:entry`, `:key`, `:list`, `:ready`, `:webhook`, `:account` and
 * `:reset` are filled in.
 */
export const INSIDE = [
  ['/', 'Overview'],
  ['/usage', 'Usage'],
  ['/verify', 'Verify'],
  ['/log', 'Log'],
  ['/log/:entry', 'Verification'],
  ['/lists', 'Lists'],
  ['/lists/new', 'New list'],
  ['/lists/:ready', 'spring.csv'],
  ['/lists/:list?verdict=undeliverable', 'newsletter-november.csv'],
  ['/outcomes', 'Outcomes'],
  ['/filters', 'Filters'],
  ['/policies', 'Policies'],
  ['/policies/shop', 'shop'],
  ['/settings/keys', 'API keys'],
  ['/settings/keys/:key', 'CRM import'],
  ['/settings/hooks', 'Auth hooks'],
  ['/webhooks', 'Webhooks'],
  ['/webhooks/:webhook', 'http://127.0.0.1:9/webhooks'],
  ['/alerts', 'Alerts'],
  ['/account', 'Account'],
  ['/account/ledger', 'Credit ledger'],
  ['/account/members', 'Members'],
  ['/account/audit-log', 'Audit log'],
  ['/security', 'Sign-in and security'],
  ['/operator', 'Accounts'],
  ['/operator/accounts/:account', 'Fabrikam'],
  ['/operator/service', 'Service'],
  ['/operator/doctor', 'Doctor'],
  ['/operator/lists', 'Disposable lists'],
  ['/operator/jobs', 'Failed jobs'],
  ['/operator/keys', 'Operator keys'],
  ['/operator/replies', 'SMTP replies'],
  ['/operator/sign-ins', 'Sign-ins'],
] as const;
export const OUTSIDE = [
  ['/sign-in', 'Sign in'],
  ['/sign-in#forgot', 'Reset your password'],
  ['/sign-up', 'Sign up'],
  ['/setup#token=0123456789abcdef', 'Set up Mailvet'],
  ['/reset-password#token=:reset', 'Choose a password'],
  ['/verify-email', 'Link required'],
  ['/docs', 'API reference'],
  ['/docs/verify', 'Verify one address'],
  ['/docs/receiveListCompleted', 'Every address of a list has its result'],
] as const;

/** Pages that have an accepted picture of the phone in the dark, too. */
const ON_A_PHONE: ReadonlySet<string> = new Set([
  '/',
  '/log',
  '/log/:entry',
  '/outcomes',
  '/settings/keys',
  '/sign-in',
]);

export interface Picture {
  readonly name: string;
  /** Whether there is one of the phone in the dark, too. */
  readonly phone: boolean;
  readonly style: string;
}

/** Latencies are counted a few seconds later. */
const TIME_TO_ANSWER = '[aria-label="Key figures"] > :nth-child(4) { visibility: hidden }';

/** What is of the machine, of the moment or of today's lists is not in the pictures; style sheets by page. */
const VARYING: Readonly<Record<string, string>> = {
  '/': TIME_TO_ANSWER,
  '/usage': `${TIME_TO_ANSWER} main figure { display: none !important }`,
  // Its URL has a random ID.
  '/settings/hooks': 'main tbody p:nth-of-type(2) { display: none }',
  '/security': 'time { font-size: 0 }',
  // The rows of a list are charged in one step or more.
  '/operator/accounts/:account': 'main tbody { display: none }',
  '/operator/service':
    'main tbody { display: none } main figure { display: none !important } main :is(dd, [aria-label="Key figures"] *) { visibility: hidden }',
  '/operator/lists': 'main :is(dd, td) { visibility: hidden }',
  '/operator/jobs': 'main :not(h1, :has(h1)) { display: none }',
  '/reset-password#token=:reset': 'time { font-size: 0 }',
};

/** `/lists/:list?verdict=undeliverable` is in `lists-list-verdict-undeliverable.webp`, without the token of a link. */
export function pictureOf(path: string): Picture {
  const words = path.replace(/#token=.*/, '').match(/[a-z-]+/gi) ?? ['overview'];
  return { name: words.join('-'), style: VARYING[path] ?? '', phone: ON_A_PHONE.has(path) };
}
