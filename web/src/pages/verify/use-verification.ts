import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { api, unwrap } from '../../api/client.ts';
import { noteRefusal } from '../../api/query-client.ts';
import type { DashboardVerification } from '../../api/schema.ts';

export interface Question {
  readonly email: string;
  readonly validation_type: 'mx' | 'smtp';
}

export type State =
  | { readonly is: 'idle' }
  | { readonly is: 'running'; readonly question: Question }
  | { readonly is: 'cancelled' }
  | { readonly is: 'failed'; readonly error: Error }
  | { readonly is: 'done'; readonly reply: DashboardVerification };

export interface Verifying {
  readonly state: State;
  readonly email: string;
  readonly setEmail: (email: string) => void;
  readonly ask: (level: Question['validation_type']) => void;
  readonly cancel: () => void;
}

/** One address at a time; leaving the page cancels. */
export function useVerification(account: string): Verifying {
  const client = useQueryClient();
  const [state, setState] = useState<State>({ is: 'idle' });
  const [email, setEmail] = useState('');
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);

  async function run(question: Question) {
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
      noteRefusal(error);
      setState({ is: 'failed', error });
    } finally {
      await client.invalidateQueries({ queryKey: ['account', account] });
    }
  }

  return {
    state,
    email,
    setEmail,
    ask: (validation_type) => {
      if (state.is !== 'running') void run({ email: email.trim(), validation_type });
    },
    cancel: () => {
      running.current?.abort();
      setState({ is: 'cancelled' });
    },
  };
}
