/**
 * The closed sets of a verdict, and what each reason means to a reader. To add a reason, add it to `REASON_NAMES`: the
 * compiler then names every place that must handle it.
 */
import type { Level } from './plans.ts';

export const STATUSES = ['good', 'bad'] as const;
export type Status = (typeof STATUSES)[number];

export const DELIVERABILITIES = ['deliverable', 'undeliverable', 'risky', 'unknown'] as const;
export type Deliverability = (typeof DELIVERABILITIES)[number];

export const REASON_NAMES = [
  'blocked_by_filter',
  'bounced_before',
  'invalid_format',
  'disposable_domain',
  'domain_not_found',
  'no_mx_records',
  'null_mx',
  'mx_unusable',
  'dns_failure',
  'catch_all',
  'mailbox_not_found',
  'mailbox_full',
  'mailbox_disabled',
  'relay_denied',
  'greylisted',
  'smtp_temporary_failure',
  'smtp_timeout',
  'smtp_unreachable',
  'smtp_blocked',
  'smtp_unverifiable',
] as const;
export type Reason = (typeof REASON_NAMES)[number];

/** What an account decides itself: nothing is checked, and it costs nothing. */
export const OWN_DECISIONS: readonly (Reason | null)[] = ['blocked_by_filter', 'bounced_before'];

/** Means "no reason" where a string is needed: usage by reason, the filter of the log. */
export const NO_REASON = 'none';
/** Verifications can be filtered and counted by these. */
export const REASON_FILTERS = [NO_REASON, ...REASON_NAMES] as const;
export type ReasonOrNone = (typeof REASON_FILTERS)[number];

/** The dashboard and docs/verdicts.md explain a verdict in these sentences. */
export interface VerdictCopy {
  /** Reads well after "Good: " and "Bad: " with its first letter in lower case. */
  readonly title: string;
  readonly meaning: string;
  readonly advice: string;
}

export interface ReasonRow {
  /** One copy, or one for each status where the reason has two. */
  readonly copy: VerdictCopy | Readonly<Record<Status, VerdictCopy>>;
  /**
   * Seconds after which a retry usually succeeds when the server did not announce a delay; null where there is no such
   * time.
   */
  readonly usualRetrySeconds: number | null;
}

export const REASONS: Readonly<Record<Reason, ReasonRow>> = {
  blocked_by_filter: {
    copy: {
      title: 'Blocked by one of your filters',
      meaning: 'Nothing else was checked, and nothing was charged.',
      advice: 'Reject the address, or remove the filter.',
    },
    usualRetrySeconds: null,
  },
  bounced_before: {
    copy: {
      title: 'Your mail to this address bounced',
      meaning:
        'The mail server refused the recipient within the days that the account trusts a bounce, and nothing arrived since. Nothing else was checked, and nothing was charged.',
      advice: 'Do not send to it. Report a delivery as an outcome if it works again.',
    },
    usualRetrySeconds: null,
  },
  invalid_format: {
    copy: {
      title: 'Not a valid email address',
      meaning: 'No public mail server could receive mail for it.',
      advice: 'Show the user what is wrong.',
    },
    usualRetrySeconds: null,
  },
  disposable_domain: {
    copy: {
      title: 'Disposable address',
      meaning:
        'The domain or its mail servers belong to a service for disposable addresses. Mail may still arrive for a few minutes.',
      advice: 'Reject it where you need a lasting address.',
    },
    usualRetrySeconds: null,
  },
  domain_not_found: {
    copy: {
      title: 'The domain does not exist',
      meaning: 'DNS has no such name (NXDOMAIN).',
      advice: 'Reject it, and offer the suggested address if there is one.',
    },
    usualRetrySeconds: null,
  },
  no_mx_records: {
    copy: {
      title: 'The domain has no mail server',
      meaning: 'It exists but has neither MX nor address records.',
      advice: 'Reject it.',
    },
    usualRetrySeconds: null,
  },
  null_mx: {
    copy: {
      title: 'The domain does not accept mail',
      meaning: 'It publishes a null MX record (RFC 7505).',
      advice: 'Reject it.',
    },
    usualRetrySeconds: null,
  },
  mx_unusable: {
    copy: {
      title: 'No usable mail server',
      meaning: 'The MX records name only IP addresses, localhost, hosts without an address, or private addresses.',
      advice: 'Reject it.',
    },
    usualRetrySeconds: null,
  },
  dns_failure: {
    copy: {
      title: "The domain's name servers are failing",
      meaning: 'Other domains resolve; this one currently does not.',
      advice: 'Retry later. Do not delete the address because of this.',
    },
    usualRetrySeconds: null,
  },
  catch_all: {
    copy: {
      title: 'The domain is a catch-all',
      meaning: 'The server accepts every mailbox name, so accepting this one proves little.',
      advice: 'Send to people who signed up. Be careful with purchased or guessed lists.',
    },
    usualRetrySeconds: null,
  },
  mailbox_not_found: {
    copy: {
      title: 'The mailbox does not exist',
      meaning: 'The mail server rejected it as unknown.',
      advice: 'Reject or delete it.',
    },
    usualRetrySeconds: null,
  },
  mailbox_full: {
    copy: {
      good: {
        title: 'The mailbox is full for now',
        meaning: 'It exists, but the server is deferring mail for it.',
        advice: 'Keep it and retry in a few days.',
      },
      bad: {
        title: 'The mailbox is full',
        meaning: 'The server rejected the address permanently. Such a mailbox is often abandoned.',
        advice: 'Stop sending to it, and verify it again before you delete it.',
      },
    },
    usualRetrySeconds: null,
  },
  mailbox_disabled: {
    copy: {
      title: 'The mailbox is disabled',
      meaning: 'It exists but has been closed or suspended.',
      advice: 'Delete it.',
    },
    usualRetrySeconds: null,
  },
  relay_denied: {
    copy: {
      title: 'The server does not accept mail for this domain',
      meaning: "The domain's MX record points to the wrong server.",
      advice: 'Reject it.',
    },
    usualRetrySeconds: null,
  },
  greylisted: {
    copy: {
      title: 'Greylisted by the mail server',
      meaning: 'It defers mail from senders it has not seen before. Whether the mailbox exists is not known yet.',
      advice: 'Retry later.',
    },
    // Most servers accept the second attempt after 5 minutes.
    usualRetrySeconds: 300,
  },
  smtp_temporary_failure: {
    copy: {
      title: 'The mail server has a temporary problem',
      meaning: 'The server deferred the request or closed the connection.',
      advice: 'Retry later.',
    },
    usualRetrySeconds: null,
  },
  smtp_timeout: {
    copy: {
      title: 'The mail server did not answer in time',
      meaning: 'Whether the mailbox exists is unknown.',
      advice: 'Retry later, with a longer timeout (`timeout_ms` in the API).',
    },
    usualRetrySeconds: null,
  },
  smtp_unreachable: {
    copy: {
      title: 'No mail server could be reached',
      meaning: 'Whether the mailbox exists is unknown.',
      advice: 'Retry later. If this happens with every domain, outbound port 25 is blocked for this service.',
    },
    usualRetrySeconds: null,
  },
  smtp_blocked: {
    copy: {
      title: 'The mail server blocks this service',
      meaning: 'It objects to our IP address, sender address or reputation. That says nothing about the mailbox.',
      advice: 'Treat it like a result of the mx level.',
    },
    usualRetrySeconds: null,
  },
  smtp_unverifiable: {
    copy: {
      title: 'The mailbox cannot be verified',
      meaning:
        'The operator accepts every recipient, the address needs an extension that the server lacks, or this service is not set up to connect to mail servers.',
      advice: 'Treat it like a result of the mx level.',
    },
    usualRetrySeconds: null,
  },
};

/** Copy of the verdicts that need no reason, by the level that was billed. */
export const NO_REASON_COPY: Readonly<Record<Level, VerdictCopy>> = {
  mx: {
    title: 'The domain accepts mail',
    meaning: 'It has a working mail server. The mailbox was not checked.',
    advice: 'Accept it. Use the smtp level if you need to know whether the mailbox exists.',
  },
  smtp: {
    title: 'The mailbox exists',
    meaning: 'The server accepted this mailbox and rejected a random one.',
    advice: 'Send.',
  },
};

/** Anchor of a reason on docs/verdicts.md: stable, so that other pages and programs can link to it. */
export const reasonAnchor = (reason: Reason | null): string => `reason-${reason ?? NO_REASON}`;

/** What the hosts of a mail provider do with mail. */
export const PROVIDER_KINDS = ['mailbox', 'gateway', 'hosting', 'forwarder', 'relay'] as const;
export type ProviderKind = (typeof PROVIDER_KINDS)[number];

/**
 * Why a mail host, or another one, was asked once more. `deferred`: it deferred the recipient, so the next host is
 * asked; `next_host`, `next_address`: it failed otherwise. The rest: the same address again, in a new session, without
 * PIPELINING, with TLS 1.2 at most, or without TLS.
 */
export const ATTEMPT_NEXT = [
  'deferred',
  'next_host',
  'next_address',
  'new_session',
  'without_pipelining',
  'tls_1_2',
  'in_clear',
] as const;
export type AttemptNext = (typeof ATTEMPT_NEXT)[number];
