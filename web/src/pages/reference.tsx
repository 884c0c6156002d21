import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Anchor, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { useMemo, useRef, useState } from 'react';
import { Icon } from '../parts/icon.tsx';
import { Wordmark } from '../parts/mark.tsx';
import { Page } from '../parts/page.tsx';
import { usePageTitle } from '../parts/page-title.ts';
import { Prose } from '../parts/prose.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { useShortcut } from '../parts/shortcuts.ts';
import { ColorSchemeToggle } from '../shell/color-scheme-toggle.tsx';
import shell from '../shell/shell.module.css';
import { useFocusOnNavigation } from '../shell/use-focus-on-navigation.ts';
import { type ApiDocument, entries, titleOf } from './reference/document.ts';
import { ReferenceNavigation } from './reference/navigation.tsx';
import { DocumentProvider, documentQuery, useDocument } from './reference/query.ts';
import css from './reference/reference.module.css';
import { KeyField, SamplePanel } from './reference/sample-panel.tsx';
import { errorsOf, indexOf } from './reference/search.ts';

/** How requests are made, and links to all of them. */
export function ReferencePage() {
  const document = useDocument();
  const { info, tags = [] } = document;
  const all = entries(document);
  const [first] = all;
  return (
    <Page
      title={t`API reference`}
      about={info.description && <Prose text={info.description} />}
      tag={
        <span className={css.tag}>
          <Trans>Version {info.version}</Trans>
        </span>
      }
    >
      <div className={css.columns}>
        <div className={css.samples}>{first ? <SamplePanel entry={first} /> : <KeyField />}</div>
        <div className={css.words}>
          <section className={css.section}>
            <Title order={2}>{t`Requests`}</Title>
            <p>
              <Trans>
                The service is at <code className="mono anywhere">{location.origin}</code>. Send an API key with every
                request, as <code className="mono">Authorization: Bearer mv_live_…</code>. A key that starts with{' '}
                <code className="mono">mv_test_</code> is for <a href="/guide/testing">test mode</a>: it costs nothing
                and contacts no mail server. Keys are created on the dashboard’s page{' '}
                <Link to="/settings/keys">API keys</Link>.
              </Trans>
            </p>
            <p>
              <Trans>
                This reference is made of <a href="/openapi.json">the OpenAPI 3.1 document</a>. For TypeScript there is
                a <a href="/guide/quickstart">client</a>; <a href="/guide/errors">all errors</a> are on a page of their
                own.
              </Trans>
            </p>
          </section>
          {tags.map(({ name, description }) => (
            <section key={name} className={css.section}>
              <Title order={2}>{name}</Title>
              {description && <p>{description}</p>}
              <ul className={css.links}>
                {all
                  .filter(({ kind, operation }) => kind === 'operation' && operation.tags?.includes(name))
                  .map((entry) => (
                    <li key={entry.operation.operationId}>
                      <code className="mono anywhere">
                        {entry.method} {entry.path}
                      </code>
                      <Anchor component={Link} to={`/docs/${entry.operation.operationId}`}>
                        {titleOf(entry)}
                      </Anchor>
                    </li>
                  ))}
              </ul>
            </section>
          ))}
        </div>
      </div>
    </Page>
  );
}

export { ReferenceOperationPage } from './reference/operation.tsx';

/** The layout of the API reference: like that of the dashboard, but for everybody. */
export const ReferenceLayout = () => (
  <QueryResult query={useQuery(documentQuery)}>{(document) => <Frame document={document} />}</QueryResult>
);

function Frame({ document }: { document: ApiDocument }) {
  const [opened, setOpened] = useState(false);
  const pathname = useLocation({ select: ({ pathname }) => pathname });
  const index = useMemo(() => indexOf(document), [document]);
  const errors = useMemo(() => errorsOf(document), [document]);
  const main = useFocusOnNavigation(pathname);
  const burger = useRef<HTMLButtonElement>(null);
  const search = useRef<HTMLInputElement>(null);
  useShortcut('search', () => search.current?.select());
  const close = () => setOpened(false);
  return (
    <div className={`${shell.frame} ${css.frame}`} {...(opened ? { 'data-nav': true } : {})}>
      <a className="skip-link" href="#content">{t`Skip to content`}</a>
      <nav
        id="pages"
        className={shell.side}
        aria-label={t`API reference`}
        onKeyDown={({ key }) => {
          if (key !== 'Escape' || !opened) return;
          close();
          burger.current?.focus();
        }}
      >
        <Link to="/docs" className={shell.brand} onClick={close} aria-label={t`Mailvet: API reference`}>
          <Wordmark />
        </Link>
        <ReferenceNavigation index={index} errors={errors} search={search} onLeave={close} />
      </nav>
      <div>
        <header className={shell.top}>
          <button
            type="button"
            ref={burger}
            className={shell.burger}
            onClick={() => setOpened(!opened)}
            aria-label={opened ? t`Close menu` : t`Open menu`}
            aria-expanded={opened}
            aria-controls="pages"
          >
            <Icon name="menu-2" />
          </button>
          <Place />
          <a className={css.way} href="/guide/">{t`Guide`}</a>
          <Link className={css.way} to="/">
            <Trans>
              <Icon name="arrow-left" />
              Dashboard
            </Trans>
          </Link>
          <ColorSchemeToggle />
        </header>
        <main className={shell.main} id="content" ref={main} tabIndex={-1}>
          <DocumentProvider value={document}>
            <Outlet />
          </DocumentProvider>
        </main>
      </div>
      <button type="button" tabIndex={-1} className={shell.scrim} onClick={close} aria-hidden="true" />
    </div>
  );
}

function Place() {
  const title = usePageTitle();
  return (
    <div className={shell.crumbs}>
      {title !== 'API reference' && (
        <>
          <span className={shell.up}>{t`API reference`}</span>
          <span className={shell.up} aria-hidden>
            /
          </span>
        </>
      )}
      <b>{title}</b>
    </div>
  );
}
