/** What became of mail that accounts sent: what they and their providers report, and what that says of an address. */

/** What a report says. Stored and part of the API: never rename one. */
export const MAIL_OUTCOMES = ['delivered', 'bounced', 'deferred', 'complained'] as const;
export type MailOutcome = (typeof MAIL_OUTCOMES)[number];

/** What can contradict a verdict. */
export const CONTRADICTING_OUTCOMES = ['delivered', 'bounced'] as const satisfies readonly MailOutcome[];
export type ContradictingOutcome = (typeof CONTRADICTING_OUTCOMES)[number];

/** One message to one recipient: exactly one of `email` and `verificationId` is set. */
export interface ReportedOutcome {
  readonly email?: string;
  readonly verificationId?: string;
  readonly outcome: MailOutcome;
  /** The event happened at this time, in ms. */
  readonly at: number;
  /** What the mail server said, such as `550 5.1.1 User unknown`, or a line of a log that has it. It is not stored. */
  readonly diagnostic: string | null;
  /** A name that the account chose, or the provider that reported it. */
  readonly source: string | null;
}

/**
 * What an outcome is evidence of. `absent`, `disabled`, `full`: the recipient, as the mail server said. `domain`: it
 * does not take mail for the domain; a relay that is set up wrongly says the same. `sender`: address, policy, content
 * or rate of who sent. `unclear`: bounced, and nobody knows why. Stored: never rename one.
 */
export const OUTCOME_CLASSES = [
  'delivered',
  'absent',
  'disabled',
  'full',
  'domain',
  'sender',
  'unclear',
  'deferred',
  'complained',
] as const;
export type OutcomeClass = (typeof OUTCOME_CLASSES)[number];

interface OutcomeClassFacts {
  readonly label: string;
  readonly outcome: MailOutcome;
  /** Only what is about the address counts for or against a verdict. */
  readonly about: 'address' | 'sender' | 'nobody';
}

export const OUTCOME_CLASS_FACTS: Readonly<Record<OutcomeClass, OutcomeClassFacts>> = {
  delivered: { label: 'Delivered', outcome: 'delivered', about: 'address' },
  absent: { label: 'No such mailbox', outcome: 'bounced', about: 'address' },
  disabled: { label: 'Mailbox disabled', outcome: 'bounced', about: 'address' },
  full: { label: 'Mailbox full', outcome: 'bounced', about: 'address' },
  domain: { label: 'Domain not served', outcome: 'bounced', about: 'nobody' },
  sender: { label: 'Sender refused', outcome: 'bounced', about: 'sender' },
  unclear: { label: 'Bounced, unclear why', outcome: 'bounced', about: 'nobody' },
  deferred: { label: 'Deferred', outcome: 'deferred', about: 'nobody' },
  complained: { label: 'Complained', outcome: 'complained', about: 'nobody' },
};

/** How outcomes are reported, other than by a provider. Stored and part of the API: never rename one. */
export const OUTCOME_ORIGINS = ['api', 'message', 'command', 'test_mode'] as const;
export type OutcomeOrigin = (typeof OUTCOME_ORIGINS)[number];

/** Services that send mail and report outcomes of it in their own form. */
export const OUTCOME_PROVIDERS = ['ses', 'sendgrid', 'postmark', 'brevo', 'mailgun', 'resend'] as const;
export type OutcomeProvider = (typeof OUTCOME_PROVIDERS)[number];

interface OutcomeProviderFacts {
  readonly name: string;
  /** Who makes what its requests are proved by. The provider does so once it knows the URL. */
  readonly secretOf: 'us' | 'provider';
  /** What that is called where it is shown, or what it is for. */
  readonly secret: string;
  /** Example of what the provider shows; null: we make it. */
  readonly example: string | null;
  /** What is set up there; also in the table of docs/outcomes.md, with sources. */
  readonly setting: string;
}

export const OUTCOME_PROVIDER_FACTS: Readonly<Record<OutcomeProvider, OutcomeProviderFacts>> = {
  ses: {
    name: 'Amazon SES',
    secretOf: 'provider',
    secret: 'ARN of the SNS topic',
    example: 'arn:aws:sns:eu-west-1:123456789012:mail',
    setting:
      'an SNS topic for bounces, complaints and deliveries, with the URL as an HTTPS subscription, without raw message delivery',
  },
  sendgrid: {
    name: 'SendGrid',
    secretOf: 'provider',
    secret: 'Verification key',
    example: 'MFkwEwYHKoZIzj0CAQYI…',
    setting: 'Event Webhook with delivered, deferred, bounced and spam reports, signed',
  },
  postmark: {
    name: 'Postmark',
    secretOf: 'us',
    secret: 'Password of HTTP authentication',
    example: null,
    setting: 'webhook for delivery, bounce and spam complaint, with HTTP authentication',
  },
  brevo: {
    name: 'Brevo',
    secretOf: 'us',
    secret: 'Password or token of the webhook',
    example: null,
    setting: 'transactional webhook with a token or HTTP authentication',
  },
  mailgun: {
    name: 'Mailgun',
    secretOf: 'provider',
    secret: 'HTTP webhook signing key',
    example: '0a1b2c3d4e5f60718293a4b5c6d7e8f9',
    setting: 'webhooks for delivered, permanent failure, temporary failure and complaints',
  },
  resend: {
    name: 'Resend',
    secretOf: 'provider',
    secret: 'Signing secret',
    example: 'whsec_MfKQ9r8GKYqrTwjU…',
    setting: 'webhook for email.delivered, email.bounced, email.complained, email.delivery_delayed',
  },
};
