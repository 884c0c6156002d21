import { t } from '@lingui/core/macro';
import { Outlet } from '@tanstack/react-router';
import { Suspense } from 'react';
import { keysOf } from '../../../src/kernel/facts/keys-of.ts';
import { isLanguage, LANGUAGES } from '../../../src/kernel/facts/languages.ts';
import { language } from '../i18n.ts';
import { Glyph } from '../parts/glyph.tsx';
import { LoadingPage } from '../parts/loading.tsx';
import { Wordmark } from '../parts/mark.tsx';
import { chooseLanguage } from '../parts/preferences.ts';
import css from './signed-out.module.css';

export function Root() {
  return (
    <Suspense fallback={<LoadingPage />}>
      <Outlet />
    </Suspense>
  );
}

/** What a check looks like, beside the forms: replies of a server in the words of RFC 5321 and RFC 3463. */
const SAMPLE = [
  ['0.000', '', 'connected to mx1.fabrikam.example:25'],
  ['0.141', '←', '220 mx1.fabrikam.example ESMTP'],
  ['0.141', '→', 'EHLO verify.mailvet.example'],
  ['0.176', '←', '250 ENHANCEDSTATUSCODES'],
  ['0.388', '→', 'MAIL FROM:<probe@verify.mailvet.example>'],
  ['0.424', '←', '250 2.1.0 Sender ok'],
  ['0.424', '→', 'RCPT TO:<george@fabrikam.example>'],
  ['0.861', '←', '250 2.1.5 Recipient ok'],
] as const;

/** Layout of sign-in and related pages: a form, and beside it what the service does. */
export function SignedOutLayout() {
  return (
    <div className={css.door}>
      <main className={css.main}>
        <Wordmark />
        <div className={css.form}>
          <Outlet />
        </div>
        <select
          className={css.language}
          aria-label={t`Language`}
          value={language}
          onChange={({ currentTarget: { value } }) => isLanguage(value) && chooseLanguage(value)}
        >
          {keysOf(LANGUAGES).map((one) => (
            <option key={one} value={one} lang={one}>
              {LANGUAGES[one]}
            </option>
          ))}
        </select>
      </main>
      <aside className={css.aside} aria-label={t`A sample check`}>
        <ol className={css.dialogue}>
          {SAMPLE.map(([at, direction, text], i) => (
            <li key={text} data-from={direction} data-decides={i === SAMPLE.length - 1}>
              <span>{at}</span>
              <span aria-hidden>{direction}</span>
              <span>{text}</span>
            </li>
          ))}
          <li className={css.verdict} data-outcome="deliverable">
            <Glyph of="deliverable" />
            <b>{t`Mailbox exists`}</b>
          </li>
        </ol>
      </aside>
    </div>
  );
}
