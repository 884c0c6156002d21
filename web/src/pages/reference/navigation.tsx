import { plural, t } from '@lingui/core/macro';
import { TextInput } from '@mantine/core';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { type RefObject, useState } from 'react';
import { ariaKeys } from '../../parts/shortcuts.ts';
import shell from '../../shell/shell.module.css';
import { type Entry, titleOf } from './document.ts';
import css from './reference.module.css';
import { type errorsOf, found, foundErrors, type indexOf } from './search.ts';

const EVENTS = t`Events of webhooks`;
const groupOf = ({ kind, operation }: Entry): string =>
  kind === 'event' ? EVENTS : (operation.tags?.[0] ?? t`Others`);

/** The page of errors at its row (https://wicg.github.io/scroll-to-text-fragment/). */
const pageOf = (code: string): string => `/guide/errors#:~:text=${code}`;

/** The entries by tag, or those that are searched for. */
export function ReferenceNavigation(props: {
  index: ReturnType<typeof indexOf>;
  errors: ReturnType<typeof errorsOf>;
  search: RefObject<HTMLInputElement | null>;
  onLeave: () => void;
}) {
  const { index, errors, search, onLeave } = props;
  const [query, setQuery] = useState('');
  const navigate = useNavigate();
  const shown = found(index, query);
  const codes = foundErrors(errors, query);
  const matches = shown.length + codes.length;
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
        aria-label={t`Search the API reference`}
        aria-keyshortcuts={ariaKeys('search')}
        placeholder={t`Search ( / )`}
        value={query}
        maxLength={100}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => setQuery(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !searching) return;
          const [[error], [first]] = [codes, shown];
          if (error) location.assign(pageOf(error.code));
          else if (first) open(first);
        }}
      />
      <p role="status" className={searching ? css.count : css.none}>
        {searching &&
          (matches === 0 ? t`Nothing found.` : t`${plural(matches, { one: '# entry', other: '# entries' })} found.`)}
      </p>
      <div className={`${shell.groups} ${css.groups}`}>
        {searching ? (
          <>
            {codes.length > 0 && (
              <div>
                <h2>{t`Errors`}</h2>
                <ul>
                  {codes.map(({ code, status }) => (
                    <li key={code}>
                      <a href={pageOf(code)}>
                        <span className={css.entry}>{code}</span>
                        <span className={css.method}>{status}</span>
                      </a>
                    </li>
                  ))}
                </ul>
              </div>
            )}
            <div>
              {codes.length > 0 && shown.length > 0 && <h2>{t`Where they occur`}</h2>}
              <Entries entries={shown} onLeave={onLeave} />
            </div>
          </>
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
