import { useState } from 'react';
import { noteRefusal } from '../api/query-client.ts';

/** For what a button starts: whether it runs, and why it failed the last time. */
export function useTry(action: () => Promise<unknown>): { run: () => void; busy: boolean; error: Error | null } {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  async function run() {
    setBusy(true);
    setError(null);
    try {
      await action();
    } catch (failure) {
      const reason = failure instanceof Error ? failure : new Error(String(failure));
      noteRefusal(reason);
      setError(reason);
    } finally {
      setBusy(false);
    }
  }
  return { run: () => void run(), busy, error };
}
