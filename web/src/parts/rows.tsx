import { Box } from '@mantine/core';
import type { MouseEvent, ReactNode } from 'react';
import css from './rows.module.css';

/** A table of rows beside which one is opened. Columns leave by the width of the container `rows`. */
export const RowsTable = ({ label, children }: { label: string; children: ReactNode }) => (
  <table className={css.table} aria-label={label}>
    {children}
  </table>
);

/** A group of rows is laid out and painted when it comes near the window, which shows about as many. */
const GROUP_ROWS = 20;

/** Rows in groups, as the bodies of a `RowsTable`. */
export const RowGroups = <T,>({
  rows,
  children,
}: {
  rows: readonly T[];
  children: (row: T, at: number) => ReactNode;
}) =>
  Array.from({ length: Math.ceil(rows.length / GROUP_ROWS) }, (_, n) => n * GROUP_ROWS).map((from) => (
    <Box component="tbody" key={from} __vars={{ '--rows': `${Math.min(GROUP_ROWS, rows.length - from)}` }}>
      {rows.slice(from, from + GROUP_ROWS).map((row, i) => children(row, from + i))}
    </Box>
  ));

/** A row that opens as a whole. Its link, a `RowLink`, can be opened in another tab. */
export function OpenableRow(props: {
  /** Of what it opens, by which the focus comes back to it; null: another row does so. */
  id: string | null;
  isOpen: boolean;
  /** Null: there is nothing to open. */
  onOpen: (() => void) | null;
  children: ReactNode;
}) {
  const { id, isOpen, onOpen, children } = props;
  const open = (event: MouseEvent) => {
    if (onOpen === null || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    onOpen();
  };
  return (
    <tr
      className={onOpen === null ? undefined : css.row}
      data-entry={id ?? undefined}
      aria-current={isOpen || undefined}
      onClick={open}
    >
      {children}
    </tr>
  );
}

/**
 * The link of an `OpenableRow`, which follows it. The router's own links render again with every navigation: too slow
 * for a thousand rows, each time that one is opened.
 */
export const RowLink = ({ href, label, children }: { href: string; label: string; children: ReactNode }) => (
  <a href={href} aria-label={label}>
    {children}
  </a>
);

/** The beginning of the links of rows: the page's own address, to which the ID of a row is added. */
export const openHref = (page: string): string => `${page}${page.includes('?') ? '&' : '?'}open=`;

/** What is below the address where its own column has left. */
export const BelowAddress = ({ children }: { children: ReactNode }) => <span className={css.below}>{children}</span>;

/** Gives the focus back to the row, once what it opened is closed. */
export const focusRow = (id: string | undefined): void =>
  document.querySelector<HTMLElement>(`[data-entry="${CSS.escape(id ?? '')}"] a`)?.focus({ preventScroll: true });
