import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Button, Stack, Text, Textarea, TextInput, Title } from '@mantine/core';
import { queryOptions, useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { CONTRADICTIONS_LISTED, MAIL_HOST_LENGTH, SMTP_REPLY_LENGTH } from '../../../src/kernel/facts/limits.ts';
import { api, unwrap } from '../api/client.ts';
import type { ReplyExplanation, UncertainReply } from '../api/schema.ts';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { DescriptionItem, DescriptionList } from '../parts/description-list.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { ErrorAlert } from '../parts/error-alert.tsx';
import { fieldError, formError } from '../parts/field-error.ts';
import { formatNumber } from '../parts/format.ts';
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
  { header: t`Reply`, cell: (reply) => <Reply of={reply} /> },
  { header: t`Operator`, cell: ({ operator }) => operator, folds: true },
  {
    header: t`Read as`,
    cell: ({ finding, rule }) => (
      <>
        <Text size="sm">{finding}</Text>
        <Text size="xs" c="dimmed">
          {rule}
        </Text>
      </>
    ),
  },
  { header: t`Count`, numeric: true, cell: ({ count }) => formatNumber(count) },
  { header: t`First seen`, cell: ({ first_seen }) => <Timestamp at={first_seen} />, folds: true },
  { header: t`Last seen`, cell: ({ last_seen }) => <Timestamp at={last_seen} />, folds: true },
];

const Reply = ({ of: { code, enhanced_code, template } }: { of: UncertainReply }) => (
  <span className="anywhere">{[code, enhanced_code, template].filter((part) => part !== null).join(' ')}</span>
);

const UncertainRepliesTable = ({ replies }: { replies: readonly UncertainReply[] }) => (
  <DataTable
    label={t`Uncertain replies`}
    columns={COLUMNS}
    rows={replies}
    rowKey={({ operator, fingerprint }) => `${operator} ${fingerprint}`}
  />
);

type Clause = ReplyExplanation['clauses'][number];
type Alternative = ReplyExplanation['alternatives'][number];

const CLAUSES: readonly Column<Clause>[] = [
  { header: t`Words`, cell: ({ words }) => <span className="anywhere">{words}</span> },
  { header: t`Subject`, cell: ({ subject }) => subject },
  { header: t`Predicate`, cell: ({ predicate }) => predicate },
  { header: t`Rule`, cell: ({ rule }) => rule ?? '–' },
];
const ALTERNATIVES: readonly Column<Alternative>[] = [
  { header: t`Rule`, cell: ({ rule }) => rule },
  { header: t`Finding`, cell: ({ finding }) => finding },
];

function Explanation({ of }: { of: ReplyExplanation }) {
  const { finding, rule, confidence, meaning, operator, enhanced_code, retry_after, read_as, decided_by, probability } =
    of;
  const clauses = of.clauses.map((clause, index) => ({ ...clause, index }));
  return (
    <Stack>
      <Text role="status" fw={600}>
        {t`Read as ${finding}, with ${confidence} confidence.`}
      </Text>
      <DescriptionList>
        <DescriptionItem term={t`Rule`}>{rule}</DescriptionItem>
        <DescriptionItem term={t`Decided by`}>
          {probability === null
            ? decided_by
            : t`${decided_by} (model: ${probability} that the mailbox cannot be reached)`}
        </DescriptionItem>
        <DescriptionItem term={t`About`}>{meaning}</DescriptionItem>
        <DescriptionItem term={t`Operator`}>{operator ?? t`Unknown`}</DescriptionItem>
        <DescriptionItem term={t`Enhanced code`}>{enhanced_code ?? t`None`}</DescriptionItem>
        {retry_after !== null && (
          <DescriptionItem term={t`Retry after`}>
            {plural(retry_after, { one: '# second', other: '# seconds' })}
          </DescriptionItem>
        )}
        <DescriptionItem term={t`Text as read`}>
          <span className="anywhere">{read_as === '' ? t`Not read: the code decides.` : read_as}</span>
        </DescriptionItem>
      </DescriptionList>
      {clauses.length > 0 && (
        <DataTable label={t`Clauses`} columns={CLAUSES} rows={clauses} rowKey={({ index }) => index} />
      )}
      {of.alternatives.length > 0 && (
        <>
          <Text size="sm">{t`Other readings, the likeliest first:`}</Text>
          <DataTable
            label={t`Other readings`}
            columns={ALTERNATIVES}
            rows={of.alternatives}
            rowKey={(row) => row.rule}
          />
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
        aria-label={t`Explain a reply`}
        onSubmit={(event) => {
          event.preventDefault();
          onAttempt();
          setTried(true);
          if (!isShort) mutate({ reply, mx: mx.trim() });
        }}
      >
        <Stack maw={640}>
          <Textarea
            label={t`Reply of a mail server`}
            description={t`With its code, such as “550 5.1.1 User unknown”. It is not stored.`}
            autosize
            minRows={2}
            maxRows={8}
            spellCheck={false}
            maxLength={SMTP_REPLY_LENGTH.max}
            value={reply}
            onChange={(event) => setReply(event.currentTarget.value)}
            error={tried && isShort ? t`Enter a reply with its code.` : fieldError(error, 'reply')}
          />
          <TextInput
            label={t`Mail host (optional)`}
            description={t`Some operators use codes of their own.`}
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
            <Button type="submit" variant="filled" loading={isPending}>{t`Explain`}</Button>
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
      <Title order={2}>{t`Contradictions`}</Title>
      <QueryResult query={query}>
        {({ contradictions }) =>
          contradictions.length > 0 ? (
            <>
              <Text size="sm" c="dimmed">
                <Trans>
                  Verdicts that the outcome of mail contradicts, of all accounts, without addresses; the latest{' '}
                  {formatNumber(CONTRADICTIONS_LISTED)} at most. The reply may be misread.
                </Trans>
              </Text>
              <ContradictionsTable
                rows={contradictions.map((one, index) => ({ ...one, index }))}
                rowKey={({ index }) => index}
                verdict={(row) => <VerdictOf of={row} />}
              />
            </>
          ) : (
            <EmptyState
              title={t`No contradictions`}
            >{t`No outcome that accounts have reported contradicts its verdict.`}</EmptyState>
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
      title={t`SMTP replies`}
      about={t`How replies of mail servers are read: those read with low confidence, and verdicts that mail contradicts.`}
    >
      <ExplainForm />
      <Title order={2}>{t`Uncertain replies`}</Title>
      <QueryResult query={query}>
        {({ replies, total_count }) =>
          replies.length > 0 ? (
            <>
              <Text
                size="sm"
                c="dimmed"
              >{t`Without addresses, names and numbers. No rule matched, or only a weak one.`}</Text>
              <UncertainRepliesTable replies={replies} />
              {total_count > replies.length && (
                <Text size="sm" c="dimmed">
                  <Trans>
                    The {formatNumber(replies.length)} most frequent of {formatNumber(total_count)} kinds.
                  </Trans>
                </Text>
              )}
            </>
          ) : (
            <EmptyState title={t`No uncertain replies`}>{t`All replies so far matched a rule.`}</EmptyState>
          )
        }
      </QueryResult>
      <Contradictions />
    </Page>
  );
}
