import { Anchor, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Page } from '../../parts/page.tsx';
import { Prose } from '../../parts/prose.tsx';
import { entries, titleOf } from './document.ts';
import { useDocument } from './query.ts';
import css from './reference.module.css';
import { KeyField, SamplePanel } from './sample-panel.tsx';

/** How requests are made, and links to all of them. */
export function ReferencePage() {
  const document = useDocument();
  const { info, tags = [] } = document;
  const all = entries(document);
  const [first] = all;
  return (
    <Page
      title="API reference"
      about={info.description && <Prose text={info.description} />}
      tag={<span className={css.tag}>Version {info.version}</span>}
    >
      <div className={css.columns}>
        <div className={css.samples}>{first ? <SamplePanel entry={first} /> : <KeyField />}</div>
        <div className={css.words}>
          <section className={css.section}>
            <Title order={2}>Requests</Title>
            <p>
              The service is at <code className="mono anywhere">{location.origin}</code>. Send an API key with every
              request, as <code className="mono">Authorization: Bearer mv_live_…</code>. A key that starts with{' '}
              <code className="mono">mv_test_</code> is for <a href="/guide/testing">test mode</a>: it costs nothing and
              asks no mail server. Keys are created on the dashboard’s page <Link to="/settings/keys">API keys</Link>.
            </p>
            <p>
              This reference is made of <a href="/openapi.json">the OpenAPI 3.1 document</a>. For TypeScript there is a{' '}
              <a href="/guide/quickstart">client</a>; <a href="/guide/errors">all errors</a> are on a page of their own.
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
