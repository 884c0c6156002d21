import type { ReactNode } from 'react';
import type { Notice } from '../../../src/kernel/facts/notices.ts';
import { Dismiss } from './dismiss.tsx';
import { Glyph } from './glyph.tsx';
import css from './review.module.css';

/** One line about what deserves a look, with links to it. `of`: the notices in it, which can be dismissed. */
export const Review = ({ title, of, children }: { title: string; of: readonly Notice[]; children: ReactNode }) => (
  <section className={css.review} aria-label={title}>
    <Glyph of="risky" />
    <b>{title}</b>
    {children}
    {of.length > 0 && (
      <div className={css.dismiss}>
        <Dismiss of={of} />
      </div>
    )}
  </section>
);
