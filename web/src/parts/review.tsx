import type { ReactNode } from 'react';
import { Glyph } from './glyph.tsx';
import css from './review.module.css';

/** One line about what deserves a look, with links to it. */
export const Review = ({ title, children }: { title: string; children: ReactNode }) => (
  <section className={css.review} aria-label={title}>
    <Glyph of="risky" />
    <b>{title}</b>
    {children}
  </section>
);
