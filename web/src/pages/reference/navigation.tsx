import { TextInput } from '@mantine/core';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { type RefObject, useState } from 'react';
import { pluralize } from '../../parts/format.ts';
import shell from '../../shell/shell.module.css';
import { type Entry, titleOf } from './document.ts';
import css from './reference.module.css';
import { found, type indexOf } from './search.ts';

const EVENTS = 'Events of webhooks';
const groupOf = ({ kind, operation }: Entry): string => (kind === 'event' ? EVENTS : (operation.tags?.[0] ?? 'Others'));

/** The entries by tag, or those that are searched for. */
export function ReferenceNavigation(props: {
  index: ReturnType<typeof indexOf>;
  search: RefObject<HTMLInputElement | null>;
  onLeave: () => void;
}) {
  const { index, search, onLeave } = props;
  const [query, setQuery] = useState('');
  const navigate = useNavigate();
  const shown = found(index, query);
  const searching = query.trim() !== '';
  const open = ({ operation: { operationId } }: Entry) => {
    onLeave();
    void navigate({ to: '/docs/$operation', params: { operation: operationId } });
  };
  return (
    <>
      <TextInput
        ref={search}
        type="search"
        aria-label="Search the API reference"
        placeholder="Search ( / )"
        value={query}
        maxLength={100}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => setQuery(event.currentTarget.value)}
        onKeyDown={(event) => {
          const [first] = shown;
          if (event.key === 'Enter' && searching && first) open(first);
        }}
      />
      <p role="status" className={searching ? css.count : css.none}>
        {searching && (shown.length === 0 ? 'Nothing found.' : `${pluralize(shown.length, 'entry', 'entries')} found.`)}
      </p>
      <div className={`${shell.groups} ${css.groups}`}>
        {searching ? (
          <Entries entries={shown} onLeave={onLeave} />
        ) : (
          [...Map.groupBy(shown, groupOf)].map(([name, entries]) => (
            <div key={name}>
              <h2>{name}</h2>
              <Entries entries={entries} onLeave={onLeave} />
            </div>
          ))
        )}
      </div>
    </>
  );
}

function Entries({ entries, onLeave }: { entries: readonly Entry[]; onLeave: () => void }) {
  const { operation: current } = useParams({ strict: false });
  return (
    <ul>
      {entries.map((entry) => (
        <li key={entry.operation.operationId}>
          <Link
            to="/docs/$operation"
            params={{ operation: entry.operation.operationId }}
            preload={false}
            onClick={onLeave}
            activeProps={{ 'aria-current': undefined }}
            aria-current={entry.operation.operationId === current ? 'page' : undefined}
          >
            <span className={css.entry}>{entry.kind === 'event' ? entry.path : titleOf(entry)}</span>
            {entry.kind === 'operation' && <span className={css.method}>{entry.method}</span>}
          </Link>
        </li>
      ))}
    </ul>
  );
}
