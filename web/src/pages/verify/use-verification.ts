import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { Level } from '../../../../src/kernel/facts/plans.ts';
import { api, unwrap } from '../../api/client.ts';
import { handleApiError } from '../../api/query-client.ts';
import type { DashboardVerification } from '../../api/schema.ts';

export interface VerificationRequest {
  readonly email: string;
  readonly validation_type: Level;
}

type VerificationState =
  | { readonly is: 'idle' }
  | { readonly is: 'running'; readonly question: VerificationRequest }
  | { readonly is: 'cancelled' }
  | { readonly is: 'failed'; readonly error: Error }
  | { readonly is: 'done'; readonly reply: DashboardVerification };

export interface VerificationController {
  readonly state: VerificationState;
  readonly email: string;
  readonly setEmail: (email: string) => void;
  readonly verify: (level: VerificationRequest['validation_type']) => void;
  readonly cancel: () => void;
}

/** One verification at a time. Leaving the page cancels it. */
export function useVerification(account: string): VerificationController {
  const client = useQueryClient();
  const [state, setState] = useState<VerificationState>({ is: 'idle' });
  const [email, setEmail] = useState('');
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);

  async function run(question: VerificationRequest) {
    const control = new AbortController();
    running.current = control;
    setState({ is: 'running', question });
    try {
      const call = { params: { path: { account } }, body: question, signal: control.signal };
      const reply = await unwrap(api.POST('/dashboard/accounts/{account}/verify', call));
      if (!control.signal.aborted) setState({ is: 'done', reply });
    } catch (failure) {
      if (control.signal.aborted) return;
      const error = failure instanceof Error ? failure : new Error(String(failure));
      handleApiError(error);
      setState({ is: 'failed', error });
    } finally {
      await client.invalidateQueries({ queryKey: ['account', account] });
    }
  }

  return {
    state,
    email,
    setEmail,
    verify: (validation_type) => {
      if (state.is !== 'running') void run({ email: email.trim(), validation_type });
    },
    cancel: () => {
      running.current?.abort();
      setState({ is: 'cancelled' });
    },
  };
}
