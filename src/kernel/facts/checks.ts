/** What checks report: those of a verification, and those of this host. */

/** `skipped`: something before it decided, or the level does not ask. */
export const CHECK_RESULTS = ['pass', 'fail', 'unknown', 'skipped'] as const;
export type CheckResult = (typeof CHECK_RESULTS)[number];

/** What read the reply that decided: a row for the operator's own form, a rule, or the model beside the rules. */
export const REPLY_READERS = ['operator', 'rule', 'model'] as const;
export type ReadBy = (typeof REPLY_READERS)[number];

/** `low`: nothing matched the reply, or only weak evidence did. */
export const REPLY_CONFIDENCES = ['high', 'low'] as const;
export type ReplyConfidence = (typeof REPLY_CONFIDENCES)[number];

/** Who wrote a line of a transcript; a `note` is ours about the dialogue. */
export const TRANSCRIPT_WRITERS = ['client', 'server', 'note'] as const;
export type TranscriptWriter = (typeof TRANSCRIPT_WRITERS)[number];

/** What keeps this host from asking mail servers. */
export const MAIL_SERVER_PROBLEMS = ['port_closed', 'refused_everywhere'] as const;
export type MailServerProblem = (typeof MAIL_SERVER_PROBLEMS)[number];
export const EGRESS_CONDITIONS = ['ok', ...MAIL_SERVER_PROBLEMS] as const;
export type EgressCondition = (typeof EGRESS_CONDITIONS)[number];

/** What a check of the doctor has found, from the best to the worst. */
export const DOCTOR_FOUND = ['pass', 'warn', 'fail'] as const;
export type DoctorFound = (typeof DOCTOR_FOUND)[number];
/** `skip`: not checked, because of another finding. */
export const DOCTOR_RESULTS = [...DOCTOR_FOUND, 'skip'] as const;
export type DoctorResult = (typeof DOCTOR_RESULTS)[number];
