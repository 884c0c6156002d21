import { Title } from '@mantine/core';
import { type ReactNode, useId } from 'react';
import css from './panel.module.css';

/**
 * A section of a page with its title. `flush`: its content, a chart or a `table`, reaches the edges. A table is named
 * itself.
 */
export function Panel(props: {
  title: string;
  note?: ReactNode;
  actions?: ReactNode;
  footer?: ReactNode;
  flush?: boolean | 'table';
  children: ReactNode;
}) {
  const { title, note, actions, footer, flush = false, children } = props;
  const name = useId();
  return (
    <section className={css.panel} {...(flush === 'table' ? {} : { 'aria-labelledby': name })}>
      <header>
        <Title order={2} id={name}>
          {title}
        </Title>
        {note && <span className={css.note}>{note}</span>}
        {actions && <div className={css.actions}>{actions}</div>}
      </header>
      <div className={flush !== false ? css.flush : css.body}>{children}</div>
      {footer && <div className={css.footer}>{footer}</div>}
    </section>
  );
}

/** Two panels side by side where there is room: the first twice as wide, or both alike. */
export const Pair = ({ alike = false, children }: { alike?: boolean; children: ReactNode }) => (
  <div className={alike ? css.halves : css.pair}>{children}</div>
);
