import { LANGUAGE_COOKIE, type Language, PREFERENCE_DAYS } from '../../../src/kernel/facts/languages.ts';

/** In a cookie, because the service renders the first view of a page. */
export function keepPreference(name: string, value: string): void {
  const attributes = ['path=/', 'samesite=lax', `max-age=${PREFERENCE_DAYS * 86_400}`];
  if (location.protocol === 'https:') attributes.push('secure');
  // The Cookie Store API is not in Safari 17.
  Object.assign(document, { cookie: [`${name}=${encodeURIComponent(value)}`, ...attributes].join('; ') });
}

/** Begins the page anew: its modules hold texts. */
export function chooseLanguage(language: Language): void {
  keepPreference(LANGUAGE_COOKIE, language);
  location.reload();
}
