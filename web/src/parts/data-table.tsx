import { VisuallyHidden } from '@mantine/core';
import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';
import css from './data-table.module.css';

export interface Column<T> {
  /** Also its React key; unique in the table. */
  readonly header: string;
  readonly cell: (row: T) => ReactNode;
  /** Right-aligned. */
  readonly numeric?: boolean;
  /** The header is for screen readers only, as in columns of buttons. */
  readonly quietHeader?: boolean;
  /** In place of the header's text, such as a box that selects all rows. */
  readonly control?: ReactNode;
  /** In place of the header's text: what sorts by the column, and whether that is so. */
  readonly sort?: { readonly control: ReactNode; readonly by: 'ascending' | 'descending' | 'none' };
  /**
   * Where the table, whatever the screen, is narrow, the cell folds: it stands below the first one that does not, with
   * its header.
   * Below 720 px, or the first of all below 960 px.
   */
  readonly folds?: boolean | 'first';
  /** Left out where it would fold: it only pictures what another column says. */
  readonly leaves?: boolean;
}

/**
 * Rows keep the order of the server. Where columns do not fit, the table scrolls in a focusable container; elsewhere
 * its head stays in view, and the container is no stop for the keyboard.
 */
export function DataTable<T>(props: {
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  rowKey: (row: T) => string | number;
}) {
  const { label, columns, rows, rowKey } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const fits = useFits(scroller);
  const look = ({ numeric, folds, leaves }: Column<T>) =>
    `${numeric ? `numbers ${css.numeric}` : ''} ${folds || leaves ? css[folds === 'first' ? 'wide' : 'medium'] : ''}`;
  // A box that selects the row is no place for the rest of it.
  const host = columns.find(({ control, folds }) => control === undefined && !folds);
  const folding = columns.filter(({ folds }) => folds);
  return (
    <div className={css.panel}>
      <section
        ref={scroller}
        className={css.scroll}
        data-fits={fits || undefined}
        {...(fits ? {} : { 'aria-label': label, tabIndex: 0 })}
      >
        <table className={css.table} aria-label={label}>
          <thead>
            <tr>
              {columns.map((column) => (
                <th
                  key={column.header}
                  scope="col"
                  {...(column.sort ? { 'aria-sort': column.sort.by } : {})}
                  className={look(column)}
                >
                  {column.control ??
                    column.sort?.control ??
                    (column.quietHeader ? <VisuallyHidden>{column.header}</VisuallyHidden> : column.header)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={rowKey(row)}>
                {columns.map((column) => (
                  <td key={column.header} className={look(column)}>
                    {column.cell(row)}
                    {column === host && folding.length > 0 && <Folded columns={folding} row={row} />}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </div>
  );
}

/** Whether the table in it is not wider than the element. */
function useFits(scroller: RefObject<HTMLElement | null>): boolean {
  const [fits, setFits] = useState(false);
  useEffect(() => {
    const outer = scroller.current;
    const table = outer?.querySelector('table');
    if (outer == null || table == null) return;
    const observer = new ResizeObserver(() => setFits(table.offsetWidth <= outer.clientWidth));
    observer.observe(outer);
    observer.observe(table);
    return () => observer.disconnect();
  }, [scroller]);
  return fits;
}

/** The cells of columns that fold, in another one. */
function Folded<T>({ columns, row }: { columns: readonly Column<T>[]; row: T }) {
  const cells = columns.map(({ cell, ...column }) => ({ ...column, content: cell(row) }));
  return (
    <div className={css.folded}>
      {cells.map(
        ({ header, quietHeader, folds, content }) =>
          content !== null &&
          content !== false &&
          content !== '' && (
            <div key={header} className={folds === 'first' ? css.belowWide : css.belowMedium}>
              {!quietHeader && <span className={css.header}>{header}</span>} {content}
            </div>
          ),
      )}
    </div>
  );
}
