<?php

// Made by `npm run gen` from the OpenAPI document.

declare(strict_types=1);

namespace Mailvet\Enum;

/**
 * Why the address is bad, or what could not be determined; see the page of verdicts. Later versions may add
 * reasons.
 */
enum Reason: string
{
    case BlockedByFilter = 'blocked_by_filter';
    case BouncedBefore = 'bounced_before';
    case InvalidFormat = 'invalid_format';
    case DisposableDomain = 'disposable_domain';
    case DomainNotFound = 'domain_not_found';
    case NoMxRecords = 'no_mx_records';
    case NullMx = 'null_mx';
    case MxUnusable = 'mx_unusable';
    case DnsFailure = 'dns_failure';
    case CatchAll = 'catch_all';
    case MailboxNotFound = 'mailbox_not_found';
    case MailboxFull = 'mailbox_full';
    case MailboxDisabled = 'mailbox_disabled';
    case RelayDenied = 'relay_denied';
    case Greylisted = 'greylisted';
    case SmtpTemporaryFailure = 'smtp_temporary_failure';
    case SmtpTimeout = 'smtp_timeout';
    case SmtpUnreachable = 'smtp_unreachable';
    case SmtpBlocked = 'smtp_blocked';
    case SmtpUnverifiable = 'smtp_unverifiable';
}
