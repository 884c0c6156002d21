import type { ComponentProps, ReactNode } from 'react';
import css from './search-bar.module.css';
import { SearchBox } from './search-box.tsx';

/** What a page of rows is searched by: one line of a field, chips and how many there are. `label`: of the rows. */
export function SearchBar(props: {
  label: string;
  search: ComponentProps<typeof SearchBox>;
  /** How many rows there are, in words; missing: that is not known. */
  count?: string | undefined;
  /** Chips. */
  children?: ReactNode;
}) {
  const { label, search, count, children } = props;
  return (
    <search className={css.bar} aria-label={label}>
      <div className={css.field}>
        <SearchBox {...search} />
      </div>
      <div className={css.chips}>{children}</div>
      {count !== undefined && (
        <span className={css.count} role="status">
          {count}
        </span>
      )}
    </search>
  );
}
