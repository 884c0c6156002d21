import type { Dedupe } from '../../../../src/kernel/facts/lists.ts';
import { ApiError } from '../../api/client.ts';
import type { List } from '../../api/schema.ts';

export interface UploadChoice {
  readonly dedupe: Dedupe;
  /** Number of the column with the addresses, from 1; null: detected. */
  readonly column: number | null;
  /** Name of the policy that decides from its results; null: none. */
  readonly policy: string | null;
}

/** How far an upload is: bytes sent so far; `storing`: all have arrived, and the server stores the rows. */
export interface UploadProgress {
  readonly sent: number;
  readonly storing: boolean;
}

/**
 * Uploads a file without starting it. Not `fetch`, which does not say how far it is. Rejects with ApiError; where it
 * was aborted, never settles.
 */
export function uploadList(
  account: string,
  file: File,
  { dedupe, column, policy }: UploadChoice,
  onProgress: (progress: UploadProgress) => void,
): { readonly list: Promise<List>; readonly abort: () => void } {
  const request = new XMLHttpRequest();
  const list = new Promise<List>((resolve, reject) => {
    const query = new URLSearchParams({ name: file.name, start: 'false', dedupe });
    if (column !== null) query.set('column', String(column));
    if (policy !== null) query.set('policy', policy);
    request.open('POST', `/dashboard/accounts/${encodeURIComponent(account)}/lists?${query}`);
    // The server finds out by the content what it is.
    request.setRequestHeader('content-type', 'application/octet-stream');
    request.responseType = 'json';
    request.upload.onprogress = ({ loaded }) => onProgress({ sent: loaded, storing: false });
    request.upload.onload = () => onProgress({ sent: file.size, storing: true });
    request.onload = () => {
      if (request.status === 201) resolve(request.response as List);
      else reject(new ApiError(request.status, request.response));
    };
    request.onerror = () => reject(new Error('The upload was interrupted. Check your connection and try again.'));
    request.send(file);
  });
  return { list, abort: () => request.abort() };
}
