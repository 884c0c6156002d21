import { useEffect, useRef, useState } from 'react';
import { handleApiError } from '../../api/query-client.ts';
import type { List } from '../../api/schema.ts';
import { type UploadChoice, type UploadProgress, uploadList } from './upload.ts';

export type UploadState =
  | { readonly phase: 'none' }
  | { readonly phase: 'sending'; readonly file: File; readonly progress: UploadProgress }
  | { readonly phase: 'refused'; readonly file: File; readonly error: Error };

/** One upload at a time; leaving the page ends it, and nothing of it is kept. */
export function useUpload(account: string, onStored: (list: List) => void) {
  const [state, setState] = useState<UploadState>({ phase: 'none' });
  const abort = useRef<() => void>(() => {});
  useEffect(() => () => abort.current(), []);
  const isSending = state.phase === 'sending';
  useEffect(() => {
    if (!isSending) return;
    // The browser asks whether to leave.
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', ask);
    return () => window.removeEventListener('beforeunload', ask);
  }, [isSending]);

  function start(file: File, choice: UploadChoice): void {
    abort.current();
    let current = true;
    setState({ phase: 'sending', file, progress: { sent: 0, storing: false } });
    const upload = uploadList(account, file, choice, (progress) => {
      if (current) setState({ phase: 'sending', file, progress });
    });
    abort.current = () => {
      current = false;
      upload.abort();
    };
    upload.list.then(
      (list) => {
        if (current) onStored(list);
      },
      (error: Error) => {
        if (!current) return;
        handleApiError(error);
        setState({ phase: 'refused', file, error });
      },
    );
  }

  function cancel(): void {
    abort.current();
    setState({ phase: 'none' });
  }

  return { state, start, cancel };
}
