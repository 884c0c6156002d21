import { Button, Group, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { Failure } from './failure.tsx';
import type { Submission } from './use-submit.ts';

/**
 * The fields in `children`, what went wrong below them, and the button that sends. `main`: it is what the screen is for.
 * `beside` stands next to the button.
 */
export function Form(props: {
  submit: Submission;
  action: string;
  main?: boolean;
  beside?: ReactNode;
  children?: ReactNode;
}) {
  const { submit, action, main = false, beside, children } = props;
  return (
    // Were it ever sent without us, then not into the address bar.
    <form
      ref={submit.form}
      method="post"
      noValidate
      aria-busy={submit.busy}
      onSubmit={submit.onSubmit}
      onInput={submit.onInput}
    >
      <Stack>
        {children}
        {submit.error && <Failure error={submit.error} />}
        <Group>
          <Button type="submit" loading={submit.busy} variant={main ? 'filled' : 'default'}>
            {action}
          </Button>
          {beside}
        </Group>
      </Stack>
    </form>
  );
}
