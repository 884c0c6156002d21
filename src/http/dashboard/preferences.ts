import {
  cookieValue,
  isLanguage,
  isTimeZone,
  LANGUAGE_COOKIE,
  type Language,
  preferredLanguage,
  TIME_ZONE_COOKIE,
} from '../../kernel/facts/languages.ts';
import type { HttpRequest } from '../exchange.ts';

/** What was chosen in the dashboard, else what the browser asks for. */
export function languageOf({ headers }: HttpRequest): Language {
  const chosen = cookieValue(headers.cookie, LANGUAGE_COOKIE);
  return isLanguage(chosen) ? chosen : preferredLanguage(headers['accept-language']);
}

/** UTC where the browser has not said yet. */
export function timeZoneOf({ headers }: HttpRequest): string {
  const chosen = cookieValue(headers.cookie, TIME_ZONE_COOKIE);
  return isTimeZone(chosen) ? chosen : 'UTC';
}
