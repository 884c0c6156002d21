import { Button, Group, NativeSelect, SimpleGrid, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useAccount } from '../../api/session.ts';
import { REASONS, reasonName } from '../../parts/verdict/reasons.ts';
import { keysQuery } from '../keys/query.ts';
import { LONGEST, type LogSearch, logSearch } from './search.ts';

/** What is looked for. It is searched when it is sent, and then stands in the address of the page. */
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
  const isKnown = draft.key === undefined || draft.key === 'dashboard' || keys.some(({ value }) => value === draft.key);
  return (
    <search aria-label="Verifications">
      <form onSubmit={submit}>
        <SimpleGrid cols={{ base: 1, xs: 2, md: 5 }} spacing="sm">
          <TextInput
            label="Address or its beginning"
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            maxLength={LONGEST.email}
            {...field('email')}
          />
          <TextInput
            label="Id"
            placeholder="ver_…"
            autoComplete="off"
            spellCheck={false}
            maxLength={LONGEST.id}
            {...field('id')}
          />
          <NativeSelect
            label="Status"
            data={[
              { value: '', label: 'Any' },
              { value: 'good', label: 'Good' },
              { value: 'bad', label: 'Bad' },
            ]}
            {...field('status')}
          />
          <NativeSelect
            label="Reason"
            data={[
              { value: '', label: 'Any' },
              ...REASONS.map((reason) => ({ value: reason, label: reasonName(reason) })),
            ]}
            {...field('reason')}
          />
          <NativeSelect
            label="Key"
            data={[
              { value: '', label: 'Any' },
              { value: 'dashboard', label: 'Dashboard' },
              ...keys,
              ...(isKnown ? [] : [{ value: draft.key!, label: draft.key! }]),
            ]}
            {...field('key')}
          />
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
