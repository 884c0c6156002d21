import { useState } from 'react';
import { handleApiError } from '../api/query-client.ts';

/** State of an action started by a button: whether it is running, and the error of the last run. */
export function useAsyncAction(action: () => Promise<unknown>): {
  run: () => void;
  busy: boolean;
  error: Error | null;
} {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  async function run() {
    setBusy(true);
    setError(null);
    try {
      await action();
    } catch (failure) {
      const reason = failure instanceof Error ? failure : new Error(String(failure));
      handleApiError(reason);
      setError(reason);
    } finally {
      setBusy(false);
    }
  }
  return { run: () => void run(), busy, error };
}
