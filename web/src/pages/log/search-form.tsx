import { Button, Group, NativeSelect, SimpleGrid, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { REASON_FILTERS } from '../../api/reasons.ts';
import { useAccount } from '../../api/session.ts';
import { keysOf } from '../../parts/keys-of.ts';
import { reasonName } from '../../parts/verdict/reasons.ts';
import { STATUS_LABELS } from '../../parts/verdict/status.ts';
import { keysQuery } from '../keys/query.ts';
import { type LogSearch, logSearch, MAX_LENGTHS } from './search.ts';

/** Submitting it updates the search parameters in the URL. */
export function SearchForm({ search, onSearch }: { search: LogSearch; onSearch: (search: LogSearch) => void }) {
  const { id } = useAccount();
  const { data } = useQuery(keysQuery(id));
  const [draft, setDraft] = useState(search);
  const field = (name: keyof LogSearch) => ({
    value: draft[name] ?? '',
    onChange: ({ currentTarget: { value } }: { currentTarget: { value: string } }) =>
      setDraft((now) => ({ ...now, [name]: value })),
  });
  function submit(event: FormEvent) {
    event.preventDefault();
    onSearch(logSearch({ ...draft }));
  }
  const keys = (data?.keys ?? []).map(({ id, name, key }) => ({ value: id, label: `${name} (${key.slice(-4)})` }));
  const sources = [{ value: '', label: 'Any' }, { value: 'dashboard', label: 'Dashboard' }, ...keys];
  // The URL may name a key that is not on the list.
  const other = sources.some(({ value }) => value === (draft.key ?? '')) ? [] : [draft.key ?? ''];
  return (
    <search aria-label="Verifications">
      <form onSubmit={submit}>
        <SimpleGrid cols={{ base: 1, xs: 2, md: 5 }} spacing="sm">
          <TextInput
            label="Address starts with"
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            maxLength={MAX_LENGTHS.email}
            {...field('email')}
          />
          <TextInput
            label="ID"
            placeholder="ver_…"
            autoComplete="off"
            spellCheck={false}
            maxLength={MAX_LENGTHS.id}
            {...field('id')}
          />
          <NativeSelect
            label="Status"
            data={[
              { value: '', label: 'Any' },
              ...keysOf(STATUS_LABELS).map((status) => ({ value: status, label: STATUS_LABELS[status] })),
            ]}
            {...field('status')}
          />
          <NativeSelect
            label="Reason"
            data={[
              { value: '', label: 'Any' },
              ...REASON_FILTERS.map((reason) => ({ value: reason, label: reasonName(reason) })),
            ]}
            {...field('reason')}
          />
          <NativeSelect label="Key" data={[...sources, ...other]} {...field('key')} />
        </SimpleGrid>
        <Group mt="sm" gap="xs">
          <Button type="submit" variant="filled">
            Search
          </Button>
          {Object.keys(search).length > 0 && <Button onClick={() => onSearch({})}>Clear</Button>}
        </Group>
      </form>
    </search>
  );
}
