import { t } from '@lingui/core/macro';

/** Ours, the service's and the client's explain themselves; those of the browser are not for users. */
const NAMES: ReadonlySet<string> = new Set(['Error', 'ApiError', 'MailvetError']);

export const isForUsers = ({ name }: Error): boolean => NAMES.has(name);

export const messageOf = (error: Error): string =>
  isForUsers(error)
    ? error.message
    : t`This has failed in your browser. Reload the page; if that does not help, tell the operator of this service.`;
