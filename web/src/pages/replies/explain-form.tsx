import { Button, Stack, Textarea, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { MAIL_HOST_LENGTH, SMTP_REPLY_LENGTH } from '../../../../src/kernel/facts/limits.ts';
import { ErrorAlert } from '../../parts/error-alert.tsx';
import { fieldError, formError } from '../../parts/field-error.ts';
import { useFocusInvalid } from '../../parts/use-focus-invalid.ts';
import { Explanation } from './explanation.tsx';
import { explainReply } from './queries.ts';

/** A reply, and how it is read. */
export function ExplainForm() {
  const [reply, setReply] = useState('');
  const [mx, setMx] = useState('');
  const [tried, setTried] = useState(false);
  const { mutate, isPending, data, error } = useMutation({ mutationFn: explainReply });
  const isShort = reply.trim().length < SMTP_REPLY_LENGTH.min;
  const other = formError(error, ['reply', 'mx']);
  const { form, onAttempt } = useFocusInvalid(error);
  return (
    <Stack>
      <form
        ref={form}
        noValidate
        aria-label="Explain a reply"
        onSubmit={(event) => {
          event.preventDefault();
          onAttempt();
          setTried(true);
          if (!isShort) mutate({ reply, mx: mx.trim() });
        }}
      >
        <Stack maw={640}>
          <Textarea
            label="Reply of a mail server"
            description="With its code, such as “550 5.1.1 User unknown”. It is not stored."
            autosize
            minRows={2}
            maxRows={8}
            spellCheck={false}
            maxLength={SMTP_REPLY_LENGTH.max}
            value={reply}
            onChange={(event) => setReply(event.currentTarget.value)}
            error={tried && isShort ? 'Enter a reply with its code.' : fieldError(error, 'reply')}
          />
          <TextInput
            label="Mail host (optional)"
            description="Some operators use codes of their own."
            placeholder="mx1.example.com"
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            maxLength={MAIL_HOST_LENGTH.max}
            value={mx}
            onChange={(event) => setMx(event.currentTarget.value)}
            error={fieldError(error, 'mx')}
          />
          {other && <ErrorAlert error={other} />}
          <div>
            <Button type="submit" variant="filled" loading={isPending}>
              Explain
            </Button>
          </div>
        </Stack>
      </form>
      {data && !isPending && <Explanation of={data} />}
    </Stack>
  );
}
