/** Replies of the large providers, by persona, as in their documentation and real bounces. */
import type { Persona } from '../smtp.ts';

interface Provider {
  readonly name: string;
  /** A domain hosted by the provider. */
  readonly domain: string;
  /** A host name that identifies the provider. */
  readonly host: string;
  /** Last octet of its address in the laboratory. */
  readonly octet: number;
  readonly persona: Persona;
  readonly source: string;
}

/** Local part → reply at RCPT. `anna` exists. */
const says =
  (replies: Readonly<Record<string, readonly string[]>>, unknown: (path: string) => readonly string[]) =>
  ({ verb, path }: { verb: string; path: string }): readonly string[] | undefined => {
    if (verb !== 'RCPT') return undefined;
    const local = path.slice(0, path.lastIndexOf('@'));
    return local === 'anna' ? ['250 2.1.5 OK'] : (replies[local] ?? unknown(path));
  };
const all =
  (...reply: string[]) =>
  () =>
    reply;

export const PROVIDERS: readonly Provider[] = [
  {
    name: 'Google',
    domain: 'google-hosted.test',
    host: 'aspmx.l.google.com',
    octet: 80,
    source: 'https://support.google.com/a/answer/3726730',
    persona: {
      banner: '220 mx.google.com ESMTP 4fb4d7f45d1cf-5cfcb1fa7a2si7429013a12.250 - gsmtp',
      capabilities: ['SIZE 157286400', '8BITMIME', 'ENHANCEDSTATUSCODES', 'PIPELINING', 'CHUNKING', 'SMTPUTF8'],
      on: says(
        {
          'box-full': [
            "552-5.2.2 The recipient's inbox is out of storage space and inactive. Please",
            '552-5.2.2 direct the recipient to',
            '552 5.2.2  https://support.google.com/mail/?p=OverQuotaPerm 4fb4d7f45d1cf-5cfcb1fa7a2si7429013a12.250 - gsmtp',
          ],
          'box-fullnow': [
            "452-4.2.2 The recipient's inbox is out of storage space. Please direct the",
            '452-4.2.2 recipient to',
            '452 4.2.2  https://support.google.com/mail/?p=OverQuotaTemp 4fb4d7f45d1cf-5cfcb1fa7a2si7429013a12.250 - gsmtp',
          ],
          'box-disabled': [
            '550-5.2.1 The email account that you tried to reach is inactive. For more',
            '550-5.2.1 information, go to',
            '550 5.2.1  https://support.google.com/mail/?p=DisabledUser 4fb4d7f45d1cf-5cfcb1fa7a2si7429013a12.250 - gsmtp',
          ],
          'box-rate': [
            '450-4.2.1 The user you are trying to contact is receiving mail at a rate that',
            '450-4.2.1 prevents additional messages from being delivered. Please resend your',
            '450-4.2.1 message at a later time. If the user is able to receive mail at that',
            '450-4.2.1 time, your message will be delivered. For more information, please',
            '450-4.2.1 visit',
            '450 4.2.1  https://support.google.com/mail/?p=ReceivingRate 4fb4d7f45d1cf-5cfcb1fa7a2si7429013a12.250 - gsmtp',
          ],
          'box-spamip': [
            '550-5.7.1 [192.0.2.1      18] Gmail has detected that this message is likely',
            '550-5.7.1 suspicious due to the very low reputation of the sending IP address.',
            '550-5.7.1 To best protect our users from spam, the message has been blocked. For',
            '550-5.7.1 more information, go to',
            '550 5.7.1  https://support.google.com/mail/answer/188131 4fb4d7f45d1cf-5cfcb1fa7a2si7429013a12.250 - gsmtp',
          ],
          'box-unusual': [
            '421-4.7.0 [192.0.2.1      15] Gmail has detected an unusual rate of unsolicited',
            '421-4.7.0 mail originating from your IP address. To protect our users from spam,',
            '421-4.7.0 mail sent from your IP address has been temporarily rate limited. For',
            '421-4.7.0 more information, go to',
            '421 4.7.0  https://support.google.com/mail/?p=UnsolicitedRateLimitError 4fb4d7f45d1cf - gsmtp',
          ],
          'box-noptr': [
            '550-5.7.25 [192.0.2.1] The IP address sending this message does not have a PTR',
            '550-5.7.25 record setup, or the corresponding forward DNS entry does not match the',
            '550-5.7.25 sending IP. As a policy, Gmail does not accept messages from IPs with',
            '550-5.7.25 missing PTR records. For more information, go to',
            '550 5.7.25  https://support.google.com/a?p=sender-guidelines-ip 4fb4d7f45d1cf - gsmtp',
          ],
        },
        all(
          '550-5.1.1 The email account that you tried to reach does not exist. Please try',
          "550-5.1.1 double-checking the recipient's email address for typos or",
          '550-5.1.1 unnecessary spaces. For more information, go to',
          '550 5.1.1  https://support.google.com/mail/?p=NoSuchUser 4fb4d7f45d1cf-5cfcb1fa7a2si7429013a12.250 - gsmtp',
        ),
      ),
    },
  },
  {
    name: 'Microsoft 365',
    domain: 'microsoft-hosted.test',
    host: 'microsoft-hosted-test.mail.protection.outlook.com',
    octet: 81,
    source: 'https://learn.microsoft.com/exchange/mail-flow-best-practices/non-delivery-reports-in-exchange-online',
    persona: {
      banner:
        '220 AM4PEPF00027A63.mail.protection.outlook.com Microsoft ESMTP MAIL Service ready at Fri, 20 Nov 2026 10:00:00 +0000',
      capabilities: [
        'SIZE 157286400',
        'PIPELINING',
        'DSN',
        'ENHANCEDSTATUSCODES',
        '8BITMIME',
        'BINARYMIME',
        'CHUNKING',
        'SMTPUTF8',
      ],
      on: says(
        {
          'box-banned': [
            '550 5.7.606 Access denied, banned sending IP [192.0.2.1]. To request removal from this list please visit https://sender.office.com/ and follow the directions. For more information please go to  http://go.microsoft.com/fwlink/?LinkID=526655 AS(1430) [AM4PEPF00027A63.eurprd04.prod.outlook.com]',
          ],
          'box-spamhaus': [
            '550 5.7.1 Service unavailable, Client host [192.0.2.1] blocked using Spamhaus. To request removal from this list see https://www.spamhaus.org/query/ip/192.0.2.1 AS(1450) [AM4PEPF00027A63.eurprd04.prod.outlook.com]',
          ],
          'box-busy': [
            '451 4.7.500 Server busy. Please try again later from [192.0.2.1]. (S77719) [AM4PEPF00027A63.eurprd04.prod.outlook.com]',
          ],
          'box-restricted': [
            '550 5.7.133 RESOLVER.RST.SenderNotAuthenticatedForGroup; authentication required; Delivery restriction check failed because the sender was not authenticated when sending to this group',
          ],
        },
        (path) => [
          `550 5.4.1 Recipient address rejected: Access denied. For more information see https://aka.ms/EXOSmtpErrors ${path.length} [AM4PEPF00027A63.eurprd04.prod.outlook.com 2026-11-20T10:00:00.000Z 08DE1F]`,
        ],
      ),
    },
  },
  {
    name: 'Outlook.com',
    domain: 'outlook-family.test',
    host: 'outlook-com.olc.protection.outlook.com',
    octet: 82,
    source: 'https://sendersupport.olc.protection.outlook.com/pm/troubleshooting',
    persona: {
      banner: '220 AM7EUR06FT028.mail.protection.outlook.com Microsoft ESMTP MAIL Service ready',
      on: says(
        {
          'box-blocked': [
            "550 5.7.1 Unfortunately, messages from [192.0.2.1] weren't sent. Please contact your Internet service provider since part of their network is on our block list (S3140). You can also refer your provider to http://mail.live.com/mail/troubleshooting.aspx#errors. [AM7EUR06FT028.eop-eur06.prod.protection.outlook.com]",
          ],
          'box-limited': [
            '451 4.7.650 The mail server [192.0.2.1] has been temporarily rate limited due to IP reputation. For e-mail delivery information, see https://postmaster.live.com (S775) [AM7EUR06FT028.eop-eur06.prod.protection.outlook.com]',
          ],
        },
        all(
          '550 5.5.0 Requested action not taken: mailbox unavailable (S2017062302). [AM7EUR06FT028.eop-eur06.prod.protection.outlook.com]',
        ),
      ),
    },
  },
  {
    name: 'Yahoo',
    domain: 'yahoo-family.test',
    host: 'mta5.am0.yahoodns.net',
    octet: 83,
    source: 'https://senders.yahooinc.com/smtp-error-codes/',
    persona: {
      banner: '220 mtaproxy401.free.mail.ir2.yahoo.com ESMTP ready',
      on: says(
        {
          'box-deferred': [
            '421 4.7.0 [TSS04] Messages from 192.0.2.1 temporarily deferred due to unexpected volume or user complaints - 4.16.55.1; see https://postmaster.yahooinc.com/error-codes',
          ],
          'box-listed': [
            "553 5.7.1 [BL21] Connections will not be accepted from 192.0.2.1, because the ip is in Spamhaus's list; see https://postmaster.yahooinc.com/error-codes",
          ],
          'box-overquota': ['552 5.2.2 [internal] Mailbox is over quota'],
        },
        (path) => [
          `554 delivery error: dd This user doesn't have a yahoo-family.test account (${path}) [0] - mtaproxy401.free.mail.ir2.yahoo.com`,
        ],
      ),
    },
  },
  {
    name: 'iCloud',
    domain: 'icloud-hosted.test',
    host: 'mx01.mail.icloud.com',
    octet: 84,
    source: 'https://support.apple.com/102322',
    persona: {
      banner: '220 iCloud SMTP - p00-mailgateway-smtp-6b8f7c5d4-x2x9k',
      on: says(
        {
          'box-full': ['552 5.2.2 <box-full@icloud-hosted.test>: user is over quota'],
          'box-fullnow': ['450 4.2.2 <box-fullnow@icloud-hosted.test>: user is overquota'],
          'box-policy': [
            '554 5.7.1 [CS01] Message rejected due to local policy. Please visit https://support.apple.com/en-us/HT204137',
          ],
          'box-listed': ['550 5.7.0 Blocked - see https://support.proofpoint.com/dnsbl-lookup.cgi?ip=192.0.2.1'],
        },
        (path) => [`550 5.1.1 <${path}>: user does not exist`],
      ),
    },
  },
  {
    name: 'Proofpoint',
    domain: 'proofpoint-gated.test',
    host: 'mxa-00000000.gslb.pphosted.com',
    octet: 85,
    source:
      'https://www.proofpoint.com/us/resources/dynamic-reputation (and the sisimai set of bounces, lhost/reason tests)',
    persona: {
      banner: '220 mx0a-00000000.pphosted.com ESMTP mfa-m0000000',
      on: says(
        {
          'box-listed': ['554 Blocked - see https://ipcheck.proofpoint.com/?ip=192.0.2.1'],
          'box-policy': ['550 5.7.0 Local Policy Violation'],
          'box-later': ['451 4.7.1 Your message has been temporarily rejected. Please try again later'],
        },
        all('550 5.1.1 User Unknown'),
      ),
    },
  },
  {
    name: 'Mimecast',
    domain: 'mimecast-gated.test',
    host: 'eu-smtp-inbound-1.mimecast.com',
    octet: 86,
    source: 'https://mimecastsupport.zendesk.com/hc/en-us/articles/34000709564691 (SMTP error codes)',
    persona: {
      banner: '220 relay.mimecast.com ESMTP; Fri, 20 Nov 2026 10:00:00 +0000',
      on: says(
        {
          'box-envelope': [
            '550 Administrative prohibition - envelope blocked - https://community.mimecast.com/docs/DOC-1369#550 [Zr1aPzZ1NuKV7oKyEsFFIg.uk210]',
          ],
          'box-sender': [
            '550 Rejected by header based manually Blocked Senders: verify@verifier.mailvet.test - https://community.mimecast.com/docs/DOC-1369#550 [Zr1aPzZ1NuKV7oKyEsFFIg.uk210]',
          ],
          'box-reputation': [
            '550 csi.mimecast.org Poor Reputation Sender. - https://community.mimecast.com/docs/DOC-1369#550 [Zr1aPzZ1NuKV7oKyEsFFIg.uk210]',
          ],
          'box-greylisted': [
            '451 Internal resources are temporarily unavailable - https://community.mimecast.com/docs/DOC-1369#451 [Zr1aPzZ1NuKV7oKyEsFFIg.uk210]',
          ],
        },
        all('550 Invalid Recipient - https://community.mimecast.com/docs/DOC-1369#550 [Zr1aPzZ1NuKV7oKyEsFFIg.uk210]'),
      ),
    },
  },
];
