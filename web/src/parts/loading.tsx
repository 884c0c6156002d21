import css from './loading.module.css';

const ROWS = ['92%', '78%', '85%', '64%', '88%', '71%'] as const;

/** The outline of what is being loaded. Seen after 200 ms: what comes sooner should not flicker. */
export const Loading = () => (
  <div role="status" aria-label="Loading" className={css.rows}>
    {ROWS.map((width) => (
      <i key={width} style={{ width }} />
    ))}
  </div>
);

/** The same for a whole page, whose scripts are not here yet. */
export const LoadingPage = () => (
  <div className={css.page}>
    <i className={css.title} />
    <Loading />
  </div>
);
