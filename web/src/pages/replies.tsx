import { Button, Stack, Text, Textarea, TextInput, Title } from '@mantine/core';
import { queryOptions, useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { CONTRADICTIONS_TOLD, MAIL_HOST_LENGTH, SMTP_REPLY_LENGTH } from '../../../src/kernel/facts/limits.ts';
import { api, unwrap } from '../api/client.ts';
import type { ReplyExplanation, UncertainReply } from '../api/schema.ts';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { DescriptionItem, DescriptionList } from '../parts/description-list.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { ErrorAlert } from '../parts/error-alert.tsx';
import { fieldError, formError } from '../parts/field-error.ts';
import { formatNumber, pluralize } from '../parts/format.ts';
import { Page } from '../parts/page.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { Timestamp } from '../parts/timestamp.tsx';
import { useFocusInvalid } from '../parts/use-focus-invalid.ts';
import { OperatorOnly } from './operator/operator-only.tsx';
import { OPERATOR_KEY } from './operator/queries.ts';
import { ContradictionsTable, VerdictOf } from './outcomes/contradictions.tsx';

const repliesQuery = queryOptions({
  queryKey: [...OPERATOR_KEY, 'replies'],
  queryFn: () => unwrap(api.GET('/dashboard/operator/replies')),
});

const contradictionsQuery = queryOptions({
  queryKey: [...OPERATOR_KEY, 'contradictions'],
  queryFn: () => unwrap(api.GET('/dashboard/operator/contradictions')),
});

const explainReply = (body: { reply: string; mx: string }) =>
  unwrap(api.POST('/dashboard/operator/replies/explain', { body }));

const COLUMNS: readonly Column<UncertainReply>[] = [
  { header: 'Reply', cell: (reply) => <Reply of={reply} /> },
  { header: 'Operator', cell: ({ operator }) => operator, folds: true },
  {
    header: 'Read as',
    cell: ({ finding, rule }) => (
      <>
        <Text size="sm">{finding}</Text>
        <Text size="xs" c="dimmed">
          {rule}
        </Text>
      </>
    ),
  },
  { header: 'Count', numeric: true, cell: ({ count }) => formatNumber(count) },
  { header: 'First seen', cell: ({ first_seen }) => <Timestamp at={first_seen} />, folds: true },
  { header: 'Last seen', cell: ({ last_seen }) => <Timestamp at={last_seen} />, folds: true },
];

const Reply = ({ of: { code, enhanced_code, template } }: { of: UncertainReply }) => (
  <span className="anywhere">{[code, enhanced_code, template].filter((part) => part !== null).join(' ')}</span>
);

const UncertainRepliesTable = ({ replies }: { replies: readonly UncertainReply[] }) => (
  <DataTable
    label="Uncertain replies"
    columns={COLUMNS}
    rows={replies}
    rowKey={({ operator, fingerprint }) => `${operator} ${fingerprint}`}
  />
);

type Clause = ReplyExplanation['clauses'][number];
type Alternative = ReplyExplanation['alternatives'][number];

const CLAUSES: readonly Column<Clause>[] = [
  { header: 'Words', cell: ({ words }) => <span className="anywhere">{words}</span> },
  { header: 'Subject', cell: ({ subject }) => subject },
  { header: 'Predicate', cell: ({ predicate }) => predicate },
  { header: 'Rule', cell: ({ rule }) => rule ?? '–' },
];
const ALTERNATIVES: readonly Column<Alternative>[] = [
  { header: 'Rule', cell: ({ rule }) => rule },
  { header: 'Finding', cell: ({ finding }) => finding },
];

function Explanation({ of }: { of: ReplyExplanation }) {
  const { finding, rule, confidence, meaning, operator, enhanced_code, retry_after, read_as, decided_by, probability } =
    of;
  const clauses = of.clauses.map((clause, index) => ({ ...clause, index }));
  return (
    <Stack>
      <Text role="status" fw={600}>
        {`Read as ${finding}, with ${confidence} confidence.`}
      </Text>
      <DescriptionList>
        <DescriptionItem term="Rule">{rule}</DescriptionItem>
        <DescriptionItem term="Decided by">
          {probability === null
            ? decided_by
            : `${decided_by} (model: ${probability} that the mailbox cannot be reached)`}
        </DescriptionItem>
        <DescriptionItem term="About">{meaning}</DescriptionItem>
        <DescriptionItem term="Operator">{operator ?? 'Unknown'}</DescriptionItem>
        <DescriptionItem term="Enhanced code">{enhanced_code ?? 'None'}</DescriptionItem>
        {retry_after !== null && (
          <DescriptionItem term="Retry after">{pluralize(retry_after, 'second')}</DescriptionItem>
        )}
        <DescriptionItem term="Text as read">
          <span className="anywhere">{read_as === '' ? 'Not read: the code decides.' : read_as}</span>
        </DescriptionItem>
      </DescriptionList>
      {clauses.length > 0 && (
        <DataTable label="Clauses" columns={CLAUSES} rows={clauses} rowKey={({ index }) => index} />
      )}
      {of.alternatives.length > 0 && (
        <>
          <Text size="sm">Other readings, the likeliest first:</Text>
          <DataTable label="Other readings" columns={ALTERNATIVES} rows={of.alternatives} rowKey={(row) => row.rule} />
        </>
      )}
    </Stack>
  );
}

/** A reply, and how it is read. */
function ExplainForm() {
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

export const RepliesPage = () => (
  <OperatorOnly>
    <Replies />
  </OperatorOnly>
);

/** Verdicts that turned out wrong: their replies may be misread. */
function Contradictions() {
  const query = useQuery(contradictionsQuery);
  return (
    <>
      <Title order={2}>Contradictions</Title>
      <QueryResult query={query}>
        {({ contradictions }) =>
          contradictions.length > 0 ? (
            <>
              <Text size="sm" c="dimmed">
                Verdicts that the outcome of mail contradicts, of all accounts, without addresses; the latest{' '}
                {formatNumber(CONTRADICTIONS_TOLD)} at most. The reply may be misread.
              </Text>
              <ContradictionsTable
                rows={contradictions.map((one, index) => ({ ...one, index }))}
                rowKey={({ index }) => index}
                verdict={(row) => <VerdictOf of={row} />}
              />
            </>
          ) : (
            <EmptyState title="No contradictions">
              No outcome that accounts have reported contradicts its verdict.
            </EmptyState>
          )
        }
      </QueryResult>
    </>
  );
}

function Replies() {
  const query = useQuery(repliesQuery);
  return (
    <Page
      title="SMTP replies"
      about="How replies of mail servers are read: those read with low confidence, and verdicts that mail contradicts."
    >
      <ExplainForm />
      <Title order={2}>Uncertain replies</Title>
      <QueryResult query={query}>
        {({ replies, total_count }) =>
          replies.length > 0 ? (
            <>
              <Text size="sm" c="dimmed">
                Without addresses, names and numbers. No rule matched, or only a weak one.
              </Text>
              <UncertainRepliesTable replies={replies} />
              {total_count > replies.length && (
                <Text size="sm" c="dimmed">
                  The {formatNumber(replies.length)} most frequent of {formatNumber(total_count)} kinds.
                </Text>
              )}
            </>
          ) : (
            <EmptyState title="No uncertain replies">All replies so far matched a rule.</EmptyState>
          )
        }
      </QueryResult>
      <Contradictions />
    </Page>
  );
}
