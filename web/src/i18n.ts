/**
 * The language of the page, and its texts. Every module with texts imports this one (web/lingui.config.ts), and is
 * evaluated once the catalog is there: tables of modules may hold texts. Texts in English are in the sources.
 */
import { type Messages, setupI18n } from '@lingui/core';
import {
  cookieValue,
  isLanguage,
  LANGUAGE_COOKIE,
  type Language,
  SOURCE_LANGUAGE,
} from '../../src/kernel/facts/languages.ts';

/** In the browser that of the document, which the service has chosen; in the service, that of the module's URL. */
function languageOfPage(): Language {
  const inService = typeof document === 'undefined';
  const chosen = inService ? new URL(import.meta.url).searchParams.get('language') : document.documentElement.lang;
  // The page of a development server is the same for everybody.
  const own = import.meta.env.DEV && !inService ? cookieValue(document.cookie, LANGUAGE_COOKIE) : chosen;
  return own != null && isLanguage(own) ? own : SOURCE_LANGUAGE;
}

const CATALOGS: Readonly<Record<Exclude<Language, typeof SOURCE_LANGUAGE>, () => Promise<{ messages: Messages }>>> = {
  de: () => import('./locales/de.po'),
  fr: () => import('./locales/fr.po'),
};

export const language = languageOfPage();
const messages = language === SOURCE_LANGUAGE ? {} : (await CATALOGS[language]()).messages;

export const i18n = setupI18n({ locale: language, messages: { [language]: messages } });
