import { Title } from '@mantine/core';
import type { ReactNode } from 'react';
import css from './page.module.css';
import { useSetPageTitle } from './page-title.ts';
import { useEndFirstView } from './use-end-first-view.ts';

/**
 * The layout of every page: title (also the document's), a one-sentence description and the primary action, if any.
 * Only the primary action is `variant="filled"`.
 */
export function Page(props: {
  title: string;
  /** Beside the title, such as a status. */
  tag?: ReactNode;
  about?: ReactNode;
  action?: ReactNode;
  children: ReactNode;
}) {
  const { title, tag, about, action, children } = props;
  useSetPageTitle(title);
  useEndFirstView();
  return (
    <div className={css.page}>
      <header className={css.head}>
        <div className={css.title}>
          <div className={css.line}>
            <Title order={1} className="anywhere">
              {title}
            </Title>
            {tag}
          </div>
          {about && <div className={css.about}>{about}</div>}
        </div>
        {action && <div className={css.actions}>{action}</div>}
      </header>
      {children}
    </div>
  );
}
