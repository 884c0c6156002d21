// Generated from the OpenAPI document by `npm run gen`; edit the contract or scripts/gen/n8n.ts.
import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';

/** Of the call `verify`. */
export const VERIFY_FIELDS: INodeProperties[] = [
  {
    "displayName": "Client IP",
    "name": "client_ip",
    "type": "string",
    "default": "",
    "description": "The end user's IP, which ip_address filters match; the caller's own by default."
  },
  {
    "displayName": "Evidence",
    "name": "evidence",
    "type": "boolean",
    "default": true,
    "description": "Adds the evidence: mail hosts and the SMTP transcript."
  },
  {
    "displayName": "Language",
    "name": "language",
    "type": "string",
    "default": "",
    "description": "Of the decision's message: a language tag such as de-CH, or the value of the user's Accept-Language header."
  },
  {
    "displayName": "Policy",
    "name": "policy",
    "type": "string",
    "default": "",
    "description": "Name of the policy that decides: one of the account, or signup or strict, which every account has."
  },
  {
    "displayName": "Scope",
    "name": "scope",
    "type": "string",
    "default": "",
    "description": "Your name for a place where a mailbox may count once, such as signup: the mailbox is remembered there, and seen of the reply says whether it was before."
  },
  {
    "displayName": "Timeout Ms",
    "name": "timeout_ms",
    "type": "number",
    "default": 0,
    "description": "Time budget of the whole check, in milliseconds. What is not known by then is reported as unknown. By default as the policy says, or 10000."
  },
  {
    "displayName": "Validation Type",
    "name": "validation_type",
    "type": "options",
    "options": [
      {
        "name": "MX",
        "value": "mx"
      },
      {
        "name": "SMTP",
        "value": "smtp"
      }
    ],
    "default": "mx",
    "description": "mx: syntax, domain, mail-server records, disposable list. smtp: also asks the mail server whether the mailbox exists. By default as the policy says, or mx."
  }
];

/** Of the call `lists.create`. */
export const UPLOAD_FIELDS: INodeProperties[] = [
  {
    "displayName": "Column",
    "name": "column",
    "type": "string",
    "default": "",
    "description": "The same for one column, whatever its name."
  },
  {
    "displayName": "Columns",
    "name": "columns",
    "type": "string",
    "default": "",
    "description": "Columns with the addresses, detected by default: names or numbers from 1, separated by commas or as a JSON array; all: every column that has addresses."
  },
  {
    "displayName": "Dedupe",
    "name": "dedupe",
    "type": "options",
    "options": [
      {
        "name": "Address",
        "value": "address"
      },
      {
        "name": "Mailbox",
        "value": "mailbox"
      }
    ],
    "default": "address",
    "description": "Which rows count as duplicates, and are verified and charged once: address (the default), those of the same address; mailbox, also those of one mailbox in other spellings, where its provider documents them, such as J.Doe+x@gmail.com and jdoe@googlemail.com."
  },
  {
    "displayName": "Delimiter",
    "name": "delimiter",
    "type": "string",
    "default": "",
    "description": "Between the cells of a row, detected by default: \"comma\", \"semicolon\", \"tab\" or \"pipe\", or the character itself."
  },
  {
    "displayName": "Encoding",
    "name": "encoding",
    "type": "string",
    "default": "",
    "description": "Of text, detected by default; a name of the Encoding Standard."
  },
  {
    "displayName": "Entry",
    "name": "entry",
    "type": "string",
    "default": "",
    "description": "Of an archive with several files, by name."
  },
  {
    "displayName": "Header",
    "name": "header",
    "type": "options",
    "options": [
      {
        "name": "Auto",
        "value": "auto"
      },
      {
        "name": "False",
        "value": "false"
      },
      {
        "name": "True",
        "value": "true"
      }
    ],
    "default": "true",
    "description": "true is header_row 1, false 0, auto the default."
  },
  {
    "displayName": "Header Row",
    "name": "header_row",
    "type": "number",
    "default": 0,
    "description": "Row of the file with the names of the columns, from 1, detected by default; 0: none."
  },
  {
    "displayName": "Name",
    "name": "name",
    "type": "string",
    "default": "",
    "description": "By default the name of the file, else the date."
  },
  {
    "displayName": "Patience Minutes",
    "name": "patience_minutes",
    "type": "number",
    "default": 0,
    "description": "The earlier name of retry_minutes."
  },
  {
    "displayName": "Policy",
    "name": "policy",
    "type": "string",
    "default": "",
    "description": "Name of the policy that decides: one of the account, or signup or strict, which every account has."
  },
  {
    "displayName": "Retry Minutes",
    "name": "retry_minutes",
    "type": "number",
    "default": 0,
    "description": "How long addresses whose servers defer the answer are tried again, by default 60."
  },
  {
    "displayName": "Sheet",
    "name": "sheet",
    "type": "string",
    "default": "",
    "description": "Of a workbook, by name or number; by default the first with addresses, else the first."
  },
  {
    "displayName": "Start",
    "name": "start",
    "type": "boolean",
    "default": true,
    "description": "false leaves the list ready, so that its price can be seen first."
  },
  {
    "displayName": "Validation Type",
    "name": "validation_type",
    "type": "options",
    "options": [
      {
        "name": "MX",
        "value": "mx"
      },
      {
        "name": "SMTP",
        "value": "smtp"
      }
    ],
    "default": "mx",
    "description": "By default as the policy says, or mx."
  }
];

/** Of the call `lists.list`. */
export const LISTS_FIELDS: INodeProperties[] = [
  {
    "displayName": "Query",
    "name": "query",
    "type": "string",
    "default": "",
    "description": "Searched literally in the name."
  },
  {
    "displayName": "Status",
    "name": "status",
    "type": "options",
    "options": [
      {
        "name": "Cancelled",
        "value": "cancelled"
      },
      {
        "name": "Completed",
        "value": "completed"
      },
      {
        "name": "Failed",
        "value": "failed"
      },
      {
        "name": "Paused",
        "value": "paused"
      },
      {
        "name": "Ready",
        "value": "ready"
      },
      {
        "name": "Running",
        "value": "running"
      }
    ],
    "default": "ready"
  }
];

/** Of the call `lists.rows`. */
export const ROW_FIELDS: INodeProperties[] = [
  {
    "displayName": "Deliverability",
    "name": "deliverability",
    "type": "string",
    "default": "",
    "description": "\"deliverable\", \"undeliverable\", \"risky\" or \"unknown\"; several are separated by commas, and !undeliverable is all but that one."
  },
  {
    "displayName": "Query",
    "name": "query",
    "type": "string",
    "default": "",
    "description": "Searched literally in the address."
  },
  {
    "displayName": "Reason",
    "name": "reason",
    "type": "options",
    "options": [
      {
        "name": "Blocked By Filter",
        "value": "blocked_by_filter"
      },
      {
        "name": "Bounced Before",
        "value": "bounced_before"
      },
      {
        "name": "Catch All",
        "value": "catch_all"
      },
      {
        "name": "Disposable Domain",
        "value": "disposable_domain"
      },
      {
        "name": "Dns Failure",
        "value": "dns_failure"
      },
      {
        "name": "Domain Not Found",
        "value": "domain_not_found"
      },
      {
        "name": "Greylisted",
        "value": "greylisted"
      },
      {
        "name": "Invalid Format",
        "value": "invalid_format"
      },
      {
        "name": "MX Unusable",
        "value": "mx_unusable"
      },
      {
        "name": "Mailbox Disabled",
        "value": "mailbox_disabled"
      },
      {
        "name": "Mailbox Full",
        "value": "mailbox_full"
      },
      {
        "name": "Mailbox Not Found",
        "value": "mailbox_not_found"
      },
      {
        "name": "No MX Records",
        "value": "no_mx_records"
      },
      {
        "name": "None",
        "value": "none"
      },
      {
        "name": "Null MX",
        "value": "null_mx"
      },
      {
        "name": "Relay Denied",
        "value": "relay_denied"
      },
      {
        "name": "SMTP Blocked",
        "value": "smtp_blocked"
      },
      {
        "name": "SMTP Temporary Failure",
        "value": "smtp_temporary_failure"
      },
      {
        "name": "SMTP Timeout",
        "value": "smtp_timeout"
      },
      {
        "name": "SMTP Unreachable",
        "value": "smtp_unreachable"
      },
      {
        "name": "SMTP Unverifiable",
        "value": "smtp_unverifiable"
      }
    ],
    "default": "none",
    "description": "none: without a reason."
  },
  {
    "displayName": "Status",
    "name": "status",
    "type": "options",
    "options": [
      {
        "name": "Bad",
        "value": "bad"
      },
      {
        "name": "Good",
        "value": "good"
      }
    ],
    "default": "good"
  }
];

/** Of the call `lists.results`. */
export const RESULT_FIELDS: INodeProperties[] = [
  {
    "displayName": "BOM",
    "name": "bom",
    "type": "boolean",
    "default": true,
    "description": "Whether CSV begins with a byte order mark, by default as the file did."
  },
  {
    "displayName": "Delimiter",
    "name": "delimiter",
    "type": "options",
    "options": [
      {
        "name": ",",
        "value": ","
      },
      {
        "name": ";",
        "value": ";"
      },
      {
        "name": "Comma",
        "value": "comma"
      },
      {
        "name": "Pipe",
        "value": "pipe"
      },
      {
        "name": "Semicolon",
        "value": "semicolon"
      },
      {
        "name": "Tab",
        "value": "tab"
      },
      {
        "name": "|",
        "value": "|"
      }
    ],
    "default": "comma",
    "description": "Of CSV, by default that of the file: a name, or the character itself."
  },
  {
    "displayName": "Deliverability",
    "name": "deliverability",
    "type": "string",
    "default": "",
    "description": "\"deliverable\", \"undeliverable\", \"risky\" or \"unknown\"; several are separated by commas, and !undeliverable is all but that one."
  },
  {
    "displayName": "Encoding",
    "name": "encoding",
    "type": "string",
    "default": "",
    "description": "Of CSV, by default that of the file; what it has no character for is written as a question mark."
  },
  {
    "displayName": "Format",
    "name": "format",
    "type": "options",
    "options": [
      {
        "name": "CSV",
        "value": "csv"
      },
      {
        "name": "Jsonl",
        "value": "jsonl"
      },
      {
        "name": "Xlsx",
        "value": "xlsx"
      }
    ],
    "default": "csv"
  },
  {
    "displayName": "Query",
    "name": "query",
    "type": "string",
    "default": "",
    "description": "Searched literally in the address."
  },
  {
    "displayName": "Reason",
    "name": "reason",
    "type": "options",
    "options": [
      {
        "name": "Blocked By Filter",
        "value": "blocked_by_filter"
      },
      {
        "name": "Bounced Before",
        "value": "bounced_before"
      },
      {
        "name": "Catch All",
        "value": "catch_all"
      },
      {
        "name": "Disposable Domain",
        "value": "disposable_domain"
      },
      {
        "name": "Dns Failure",
        "value": "dns_failure"
      },
      {
        "name": "Domain Not Found",
        "value": "domain_not_found"
      },
      {
        "name": "Greylisted",
        "value": "greylisted"
      },
      {
        "name": "Invalid Format",
        "value": "invalid_format"
      },
      {
        "name": "MX Unusable",
        "value": "mx_unusable"
      },
      {
        "name": "Mailbox Disabled",
        "value": "mailbox_disabled"
      },
      {
        "name": "Mailbox Full",
        "value": "mailbox_full"
      },
      {
        "name": "Mailbox Not Found",
        "value": "mailbox_not_found"
      },
      {
        "name": "No MX Records",
        "value": "no_mx_records"
      },
      {
        "name": "None",
        "value": "none"
      },
      {
        "name": "Null MX",
        "value": "null_mx"
      },
      {
        "name": "Relay Denied",
        "value": "relay_denied"
      },
      {
        "name": "SMTP Blocked",
        "value": "smtp_blocked"
      },
      {
        "name": "SMTP Temporary Failure",
        "value": "smtp_temporary_failure"
      },
      {
        "name": "SMTP Timeout",
        "value": "smtp_timeout"
      },
      {
        "name": "SMTP Unreachable",
        "value": "smtp_unreachable"
      },
      {
        "name": "SMTP Unverifiable",
        "value": "smtp_unverifiable"
      }
    ],
    "default": "none",
    "description": "none: without a reason."
  },
  {
    "displayName": "Status",
    "name": "status",
    "type": "options",
    "options": [
      {
        "name": "Bad",
        "value": "bad"
      },
      {
        "name": "Good",
        "value": "good"
      }
    ],
    "default": "good"
  }
];

/** Of the call `usage`. */
export const USAGE_FIELDS: INodeProperties[] = [
  {
    "displayName": "From",
    "name": "from",
    "type": "string",
    "default": "",
    "description": "Start of the series, RFC 3339; by default the period’s."
  },
  {
    "displayName": "Group By",
    "name": "group_by",
    "type": "options",
    "options": [
      {
        "name": "Day",
        "value": "day"
      },
      {
        "name": "Key",
        "value": "key"
      },
      {
        "name": "Reason",
        "value": "reason"
      },
      {
        "name": "Validation Type",
        "value": "validation_type"
      }
    ],
    "default": "day",
    "description": "Adds series, one row per group."
  },
  {
    "displayName": "To",
    "name": "to",
    "type": "string",
    "default": "",
    "description": "End of the series (exclusive), RFC 3339."
  }
];

/** Of the call `filters.add`. */
export const FILTER_FIELDS: INodeProperties[] = [
  {
    "displayName": "Action",
    "name": "action",
    "type": "options",
    "options": [
      {
        "name": "Allow",
        "value": "allow"
      },
      {
        "name": "Block",
        "value": "block"
      }
    ],
    "default": "block",
    "description": "block: what matches is bad. allow: the lists, and filters that are less specific, do not count. Default block."
  },
  {
    "displayName": "Expires At",
    "name": "expires_at",
    "type": "string",
    "default": "",
    "description": "RFC 3339, in the future, at most 10 years ahead; null: never."
  },
  {
    "displayName": "Filter Type",
    "name": "filter_type",
    "type": "options",
    "options": [
      {
        "name": "Domain",
        "value": "domain"
      },
      {
        "name": "Email",
        "value": "email"
      },
      {
        "name": "IP Address",
        "value": "ip_address"
      },
      {
        "name": "MX Host",
        "value": "mx_host"
      }
    ],
    "default": "email",
    "description": "Optional when the value makes it clear; a mail host needs it."
  },
  {
    "displayName": "Match",
    "name": "match",
    "type": "options",
    "options": [
      {
        "name": "Exact",
        "value": "exact"
      },
      {
        "name": "Mailbox",
        "value": "mailbox"
      }
    ],
    "default": "exact",
    "description": "mailbox, of an address: every spelling of its mailbox. Default exact."
  },
  {
    "displayName": "Reason",
    "name": "reason",
    "type": "string",
    "default": ""
  }
];

/** Of the call `filters.list`. */
export const FILTERS_FIELDS: INodeProperties[] = [
  {
    "displayName": "Filter Type",
    "name": "filter_type",
    "type": "options",
    "options": [
      {
        "name": "Domain",
        "value": "domain"
      },
      {
        "name": "Email",
        "value": "email"
      },
      {
        "name": "IP Address",
        "value": "ip_address"
      },
      {
        "name": "MX Host",
        "value": "mx_host"
      }
    ],
    "default": "email"
  },
  {
    "displayName": "Query",
    "name": "query",
    "type": "string",
    "default": "",
    "description": "Searched literally in value and reason."
  }
];

export const README = "https://github.com/OWNER/mailvet/tree/main/clients/n8n#readme";

/** What webhooks can be sent. */
export const EVENTS: INodePropertyOptions[] = [
  {
    "name": "Account Created",
    "value": "account.created"
  },
  {
    "name": "Budget Low",
    "value": "budget.low"
  },
  {
    "name": "Credits Exhausted",
    "value": "credits.exhausted"
  },
  {
    "name": "Credits Granted",
    "value": "credits.granted"
  },
  {
    "name": "Credits Low",
    "value": "credits.low"
  },
  {
    "name": "Key Created",
    "value": "key.created"
  },
  {
    "name": "Key Revoked",
    "value": "key.revoked"
  },
  {
    "name": "List Cancelled",
    "value": "list.cancelled"
  },
  {
    "name": "List Completed",
    "value": "list.completed"
  },
  {
    "name": "List Failed",
    "value": "list.failed"
  },
  {
    "name": "Outcomes Contradiction",
    "value": "outcomes.contradiction"
  },
  {
    "name": "Ping",
    "value": "ping"
  },
  {
    "name": "Rejections High",
    "value": "rejections.high"
  },
  {
    "name": "SMTP Unreachable",
    "value": "smtp.unreachable"
  },
  {
    "name": "Unknowns High",
    "value": "unknowns.high"
  },
  {
    "name": "Webhook Failing",
    "value": "webhook.failing"
  }
];
