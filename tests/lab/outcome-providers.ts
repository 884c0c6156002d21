/**
 * How providers report outcomes: bodies as their documentation prints them, with keys of ours. All as of 2026-11-26;
 * docs/outcomes.md has the links.
 */
import { createHmac, createSign, generateKeyPairSync, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Webhook } from 'standardwebhooks';
import type { MailOutcome, OutcomeProvider } from '../../src/kernel/facts/sent-mail.ts';

const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const read = (name: string) => readFileSync(new URL(`certificate/${name}.pem`, import.meta.url), 'utf8');

export const SNS_HOST = 'sns.eu-west-1.amazonaws.com';
export const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:mail';
export const snsCertificate = (name: 'sns' | 'sns-chain' | 'cert' = 'sns'): string => read(name);

/** Of the connection, where the provider makes it. */
export const PROVIDER_SECRETS: Readonly<Record<OutcomeProvider, string | null>> = {
  ses: TOPIC,
  sendgrid: ec.publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
  postmark: null,
  brevo: null,
  mailgun: 'b2c1d0e9f8a7968574635241302f1e0d',
  resend: `whsec_${Buffer.alloc(24, 7).toString('base64')}`,
};

interface Event {
  readonly email: string;
  readonly outcome: MailOutcome;
  /** Ms. */
  readonly at: number;
  readonly diagnostic?: string;
}
const iso = (ms: number): string => new Date(ms).toISOString();

/** What the provider says of one event, before it is signed. */
export const EVENT_BODIES: Readonly<Record<OutcomeProvider, (event: Event) => unknown>> = {
  // https://docs.aws.amazon.com/ses/latest/dg/notification-contents.html; the message of a notification
  ses({ email, outcome, at, diagnostic = 'smtp; 550 5.1.1 user unknown' }) {
    const mail = { timestamp: iso(at - 1000), source: 'news@sender.example', messageId: 'x', destination: [email] };
    const recipient = { emailAddress: email };
    const timestamp = iso(at);
    switch (outcome) {
      case 'delivered':
        return {
          notificationType: 'Delivery',
          mail,
          delivery: { timestamp, recipients: [email], smtpResponse: '250 ok' },
        };
      case 'bounced': {
        const failed = { ...recipient, status: '5.1.1', action: 'failed', diagnosticCode: diagnostic };
        const bounce = { bounceType: 'Permanent', bounceSubType: 'General', timestamp, bouncedRecipients: [failed] };
        return { notificationType: 'Bounce', mail, bounce };
      }
      case 'deferred':
        return { eventType: 'DeliveryDelay', mail, deliveryDelay: { timestamp, delayedRecipients: [recipient] } };
      case 'complained': {
        const complaint = { complainedRecipients: [recipient], complaintFeedbackType: 'abuse', timestamp };
        return { notificationType: 'Complaint', mail, complaint: { ...complaint, complaintSubType: null } };
      }
    }
  },
  // https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/event
  sendgrid({ email, outcome, at, diagnostic = '550 5.1.1 user unknown' }) {
    const event = { delivered: 'delivered', bounced: 'bounce', deferred: 'deferred', complained: 'spamreport' }[
      outcome
    ];
    const more =
      outcome === 'bounced' ? { type: 'bounce', status: '5.1.1', reason: diagnostic } : { response: '250 OK' };
    return [{ email, timestamp: Math.round(at / 1000), event, sg_event_id: 'e', sg_message_id: 'm', ...more }];
  },
  // https://postmarkapp.com/developer/webhooks/bounce-webhook, …/delivery-webhook, …/spam-complaint-webhook
  postmark({ email, outcome, at, diagnostic = 'smtp;550 5.1.1 user unknown' }) {
    const when = iso(at).replace('Z', '0000+00:00');
    if (outcome === 'delivered')
      return { RecordType: 'Delivery', Recipient: email, DeliveredAt: iso(at), Details: 'smtp;250 ok' };
    if (outcome === 'complained')
      return { RecordType: 'SpamComplaint', Type: 'SpamComplaint', Email: email, BouncedAt: when };
    const type = outcome === 'bounced' ? 'HardBounce' : 'Transient';
    return { RecordType: 'Bounce', Type: type, Email: email, BouncedAt: when, Details: diagnostic, Inactive: true };
  },
  // https://developers.brevo.com/docs/transactional-webhooks
  brevo({ email, outcome, at, diagnostic = '550 5.1.1 user unknown' }) {
    const event = { delivered: 'delivered', bounced: 'hard_bounce', deferred: 'deferred', complained: 'spam' }[outcome];
    const seconds = Math.floor(at / 1000);
    return {
      event,
      email,
      id: 1,
      ts: seconds,
      ts_event: seconds,
      ts_epoch: at,
      'message-id': '<x>',
      reason: diagnostic,
    };
  },
  // https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/webhook-payloads
  mailgun({ email, outcome, at, diagnostic = '5.1.1 user unknown' }) {
    const event = { delivered: 'delivered', bounced: 'failed', deferred: 'failed', complained: 'complained' }[outcome];
    const severity = outcome === 'deferred' ? 'temporary' : 'permanent';
    const status = { code: outcome === 'delivered' ? 250 : 550, message: diagnostic, description: '' };
    return { event, severity, timestamp: at / 1000, recipient: email, reason: 'bounce', 'delivery-status': status };
  },
  // https://resend.com/docs/webhooks/emails/bounced
  resend({ email, outcome, at, diagnostic = '550 5.1.1 user unknown' }) {
    const types = {
      delivered: 'email.delivered',
      bounced: 'email.bounced',
      deferred: 'email.delivery_delayed',
      complained: 'email.complained',
    };
    const bounce =
      outcome === 'bounced' ? { bounce: { message: diagnostic, type: 'Permanent', subType: 'General' } } : {};
    return { type: types[outcome], created_at: iso(at), data: { email_id: 'x', to: [email], subject: 's', ...bounce } };
  },
};

export interface SignedCall {
  readonly body: string;
  readonly headers: Record<string, string>;
}
interface Signing {
  readonly secret: string;
  /** Of what is signed: the same twice is a replay. */
  readonly id: string;
  /** Of the signature, ms. */
  readonly at: number;
  /** Where the certificate of SNS is served. */
  readonly certificateUrl?: string;
}

/** What SNS signs (version 2), of whatever kind. */
export function snsMessage(fields: Record<string, string>, { at, id, certificateUrl = '' }: Signing): string {
  const all: Record<string, string> = { MessageId: id, TopicArn: TOPIC, Timestamp: iso(at), ...fields };
  const names = ['Message', 'MessageId', 'SubscribeURL', 'Subject', 'Timestamp', 'Token', 'TopicArn', 'Type'];
  const signer = createSign('sha256');
  for (const name of names) if (all[name] !== undefined) signer.update(`${name}\n${all[name]}\n`);
  const Signature = signer.sign(read('key'), 'base64');
  return JSON.stringify({
    ...all,
    SignatureVersion: '2',
    Signature,
    SigningCertURL: certificateUrl,
    UnsubscribeURL: '',
  });
}

/** A request as the provider makes it. */
export const SIGNED_CALLS: Readonly<Record<OutcomeProvider, (event: unknown, signing: Signing) => SignedCall>> = {
  ses: (event, signing) => ({
    body: snsMessage({ Type: 'Notification', Message: JSON.stringify(event) }, { ...signing }),
    headers: { 'content-type': 'text/plain; charset=UTF-8', 'x-amz-sns-message-type': 'Notification' },
  }),
  sendgrid(event, { id, at }) {
    // SendGrid ends its events with CR LF.
    const body = `${JSON.stringify(event).replace('"e"', `"${id}"`)}\r\n`;
    const timestamp = String(Math.round(at / 1000));
    const signature = sign('sha256', Buffer.from(timestamp + body), ec.privateKey).toString('base64');
    return {
      body,
      headers: {
        'x-twilio-email-event-webhook-timestamp': timestamp,
        'x-twilio-email-event-webhook-signature': signature,
      },
    };
  },
  postmark: (event, { secret }) => ({
    body: JSON.stringify(event),
    headers: { authorization: `Basic ${Buffer.from(`mailvet:${secret}`).toString('base64')}` },
  }),
  brevo: (event, { secret }) => ({ body: JSON.stringify(event), headers: { authorization: `Bearer ${secret}` } }),
  mailgun(event, { secret, id, at }) {
    const [timestamp, token] = [String(Math.round(at / 1000)), `token-${id}`];
    const signature = createHmac('sha256', secret)
      .update(timestamp + token)
      .digest('hex');
    return { body: JSON.stringify({ signature: { timestamp, token, signature }, 'event-data': event }), headers: {} };
  },
  resend(event, { secret, id, at }) {
    const body = JSON.stringify(event);
    const signature = new Webhook(secret).sign(id, new Date(at), body);
    return {
      body,
      headers: { 'svix-id': id, 'svix-timestamp': String(Math.floor(at / 1000)), 'svix-signature': signature },
    };
  },
};
