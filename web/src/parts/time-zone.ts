import { cookieValue, isTimeZone, TIME_ZONE_COOKIE } from '../../../src/kernel/facts/languages.ts';
import { keepPreference } from './preferences.ts';

/** The time zone in which times are shown. */

let shown = 'UTC';
export const timeZone = (): string => shown;
export function showTimeZone(name: string): void {
  shown = name;
}

/** In local storage; where there is none, the zone of the browser is shown. */
const CHOSEN = 'mailvet.time-zone';

export const browserTimeZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;
/** Null: that of the browser, also when it changes. */
export function chosenTimeZone(): string | null {
  const name = localStorage.getItem(CHOSEN) ?? undefined;
  return isTimeZone(name) ? name : null;
}

/** Shows times as was chosen, and has the service do so in the first view of the next page. */
export function showOwnTimeZone(): void {
  showTimeZone(chosenTimeZone() ?? browserTimeZone());
  // Without the cookie, the service shows UTC.
  if (shown !== (cookieValue(document.cookie, TIME_ZONE_COOKIE) ?? 'UTC')) keepPreference(TIME_ZONE_COOKIE, shown);
}

/** Null: that of the browser. Begins the page anew. */
export function chooseTimeZone(name: string | null): void {
  if (name === null) localStorage.removeItem(CHOSEN);
  else localStorage.setItem(CHOSEN, name);
  location.reload();
}
