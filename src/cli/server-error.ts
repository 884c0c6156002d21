import { createMailvet, type Mailvet, MailvetError } from '../../sdk/src/index.ts';
import { CommandFailure, optionsFrom, UsageError } from './command.ts';

/** Calls the server for a command; its errors say what to do about them. */
export async function withServer<T>(
  flags: object,
  optionsFor: string,
  use: (mailvet: Mailvet) => Promise<T>,
): Promise<T> {
  const { url, key } = optionsFrom(flags, optionsFor);
  if (key === null) throw new UsageError('set MAILVET_KEY to an API key of the server.');
  try {
    return await use(createMailvet({ url, key }));
  } catch (error) {
    throw error instanceof MailvetError ? new CommandFailure(explainServerError(error, url)) : error;
  }
}

/** What a failed call of the service at `url`, MAILVET_URL, means for whoever set that variable. */
export function explainServerError({ code, status, message }: MailvetError, url: string): string {
  if (code === 'unreachable') return `cannot reach ${url}. Is the service running, and is MAILVET_URL its address?`;
  if (code === 'unexpected_reply')
    return `${url} is not a Mailvet service, or there is a proxy before it that fails. ${message}`;
  if (status === 401) return `${message} Check MAILVET_KEY.`;
  // Either of the two: the service does not say whether it knows the path.
  if (code === 'not_found')
    return `${message} MAILVET_URL is ${url}: set it to the address of the service, and check the id if you gave one.`;
  return message;
}
