import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Group, NativeSelect, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { LIST_BYTES, LIST_ROWS } from '../../../src/kernel/facts/limits.ts';
import { DEFAULT_DEDUPE, type Dedupe } from '../../../src/kernel/facts/lists.ts';
import { ApiError } from '../api/client.ts';
import { useAccount } from '../api/session.ts';
import { ErrorAlert } from '../parts/error-alert.tsx';
import { formatNumber } from '../parts/format.ts';
import { Page } from '../parts/page.tsx';
import { ChooseColumn } from './lists/choose-column.tsx';
import { DedupeSelect } from './lists/dedupe-select.tsx';
import { DropZone } from './lists/drop-zone.tsx';
import { formatBytes } from './lists/format-bytes.ts';
import { listsKey } from './lists/queries.ts';
import { useUpload } from './lists/use-upload.ts';
import { MembersOnly } from './members/members-only.tsx';
import { policiesQuery } from './policies/queries.ts';

export function NewListPage() {
  const { id: account, test } = useAccount();
  const navigate = useNavigate();
  const client = useQueryClient();
  /** What is wrong with a choice before anything is sent. */
  const [wrong, setWrong] = useState<string | null>(null);
  const [dedupe, setDedupe] = useState<Dedupe>(DEFAULT_DEDUPE);
  const { data } = useQuery(policiesQuery(account));
  const [policy, setPolicy] = useState<string | null>(null);
  const { state, start, cancel } = useUpload(account, ({ id }) => {
    void client.invalidateQueries({ queryKey: listsKey(account) });
    void navigate({ to: '/lists/$id', params: { id } });
  });
  function choose(files: readonly File[]) {
    const [file, ...more] = files;
    const problem = problemOf(file, more.length);
    setWrong(problem);
    if (problem === null && file !== undefined) start(file, { dedupe, policy, column: null });
  }
  const error = state.phase === 'refused' ? state.error : null;
  const columns = error instanceof ApiError && error.code === 'no_address_column' ? columnsOf(error) : null;
  return (
    <Page
      title={t`New list`}
      about={
        test
          ? t`Upload a file first. Nothing is verified before you start it.`
          : t`Upload a file first. Nothing is verified and nothing is charged before you start it.`
      }
    >
      <MembersOnly>
        <Group align="flex-start" maw={640} grow>
          <DedupeSelect value={dedupe} onChange={setDedupe} />
          <NativeSelect
            label={t`Policy`}
            data={[{ value: '', label: t`None` }, ...(data?.policies ?? []).map(({ name }) => name)]}
            value={policy ?? ''}
            onChange={({ currentTarget: { value } }) => setPolicy(value === '' ? null : value)}
          />
        </Group>
        <DropZone state={state} onFiles={choose} onCancel={cancel} />
        {wrong !== null && <ErrorAlert error={new Error(wrong)} />}
        {wrong === null && error !== null && (
          <ErrorAlert error={error} {...(columns ? {} : { onRetry: () => retry() })} />
        )}
        {columns !== null && state.phase === 'refused' && (
          <ChooseColumn columns={columns} onChoose={(column) => start(state.file, { dedupe, policy, column })} />
        )}
        <Text size="sm" c="dimmed" maw={640}>
          <Trans>
            CSV and other text with any of the usual delimiters, workbooks of Excel and OpenDocument (the first sheet
            with addresses), JSON, vCard, LDIF, or plain text with addresses, also packed with gzip or as ZIP: up to{' '}
            {formatNumber(LIST_ROWS.max)} rows and {formatBytes(LIST_BYTES)}. All other columns come back with the
            results. The file stays in this account until it expires or you delete the list.
          </Trans>
        </Text>
      </MembersOnly>
    </Page>
  );

  function retry() {
    if (state.phase === 'refused') start(state.file, { dedupe, policy, column: null });
  }
}

function problemOf(file: File | undefined, more: number): string | null {
  if (file === undefined) return t`That is not a file. Choose or drop a file with addresses.`;
  if (more > 0) return t`Choose one file; each becomes a separate list.`;
  if (file.size === 0) return t`${file.name} is empty.`;
  if (file.size > LIST_BYTES)
    return t`${file.name} has ${formatBytes(file.size)}; a list has at most ${formatBytes(LIST_BYTES)}. Split it.`;
  return null;
}

const columnsOf = ({ details: { columns } }: ApiError): readonly string[] =>
  Array.isArray(columns) ? columns.map(String) : [];
