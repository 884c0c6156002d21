import css from './glyph.module.css';

/** What a row of the log or a bar of a chart shows: a verdict, or a request that was rejected. */
export type Outcome = 'deliverable' | 'not_checked' | 'unknown' | 'risky' | 'undeliverable' | 'rejected';

/** Shape and cut-out, on a grid of 16: outcomes differ without color. */
const SHAPES: Readonly<Record<Outcome, React.ReactNode>> = {
  deliverable: (
    <>
      <circle cx="8" cy="8" r="7" />
      <path className={css.cut} d="m4.9 8.3 2.1 2.1 4.1-4.6" strokeWidth={1.75} />
    </>
  ),
  not_checked: (
    <>
      <circle cx="8" cy="8" r="6.2" fill="none" stroke="currentColor" strokeWidth={1.6} />
      <path d="M8 1.8a6.2 6.2 0 0 0 0 12.4z" />
    </>
  ),
  unknown: (
    <>
      <circle cx="8" cy="8" r="6.2" fill="none" stroke="currentColor" strokeWidth={1.6} strokeDasharray="3 1.87" />
      <circle cx="8" cy="8" r="1.6" />
    </>
  ),
  risky: (
    <>
      <path d="M8 2.2 14.6 14H1.4z" stroke="currentColor" strokeWidth={1.5} strokeLinejoin="round" />
      <path className={css.cut} d="M8 6.4v3.4M8 12.1v.1" strokeWidth={1.6} />
    </>
  ),
  undeliverable: (
    <>
      <rect x="1.5" y="1.5" width="13" height="13" rx="2" />
      <path className={css.cut} d="m5.4 5.4 5.2 5.2m0-5.2-5.2 5.2" strokeWidth={1.75} />
    </>
  ),
  rejected: (
    <>
      <rect x="2.9" y="2.9" width="10.2" height="10.2" rx="1.5" transform="rotate(45 8 8)" />
      <path className={css.cut} d="M5.2 8h5.6" strokeWidth={1.9} />
    </>
  ),
};

/** Decorative: the words of the verdict are next to it. `size` in pixels. */
export const Glyph = ({ of, size = 16 }: { of: Outcome; size?: number }) => (
  <svg className={css.glyph} data-outcome={of} width={size} height={size} viewBox="0 0 16 16" aria-hidden="true">
    {SHAPES[of]}
  </svg>
);
