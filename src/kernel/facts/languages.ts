/** The languages of the dashboard, each in its own words. Its sources are in English; the others have catalogs. */
export const LANGUAGES = { en: 'English', de: 'Deutsch', fr: 'Français' } as const;
export type Language = keyof typeof LANGUAGES;
/** The sources are in this language. */
export const SOURCE_LANGUAGE = 'en' satisfies Language;

export const isLanguage = (text: string | undefined): text is Language =>
  text !== undefined && Object.hasOwn(LANGUAGES, text);

/** What the reader chose; set by the dashboard, and read by the service, which renders its first view. */
export const LANGUAGE_COOKIE = 'mailvet_language';
/** The time zone that times are shown in: an IANA name. */
export const TIME_ZONE_COOKIE = 'mailvet_time_zone';
/** Chromium keeps no cookie for longer. */
export const PREFERENCE_DAYS = 400;

/** The value of a cookie (RFC 6265 §4.2.1) that is a word or percent-encoded; undefined: there is none, or no value. */
export function cookieValue(cookies: string | undefined, name: string): string | undefined {
  const pair = (cookies ?? '').split(/; */).find((pair) => pair.startsWith(`${name}=`));
  if (pair === undefined) return undefined;
  try {
    return decodeURIComponent(pair.slice(name.length + 1));
  } catch {
    return undefined;
  }
}

/** Ranges beyond these are not looked at. */
const RANGES_MAX = 20;

/** The first of our languages by weight in an Accept-Language header (RFC 9110 §12.5.4); English where none is. */
export function preferredLanguage(accepted: string | undefined): Language {
  const ranges = (accepted ?? '').split(',', RANGES_MAX).map((range) => {
    const [tag = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    return { language: tag.split('-')[0], weight: weight === undefined ? 1 : Number(weight) };
  });
  const ours = ranges.filter(({ language, weight }) => isLanguage(language) && weight > 0);
  // Stable: of equal weights, the first.
  const [best] = ours.sort((a, b) => b.weight - a.weight);
  return isLanguage(best?.language) ? best.language : SOURCE_LANGUAGE;
}

/** Whether this is the name of a time zone that dates can be shown in. */
export function isTimeZone(name: string | undefined): name is string {
  if (name === undefined || name.length > 64) return false;
  try {
    new Intl.DateTimeFormat(SOURCE_LANGUAGE, { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
