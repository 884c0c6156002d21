/** A delay beyond a day is not worth remembering, and a hostile server could announce a year. */
const MAX_DELAY_SECONDS = 86_400;

const CLOCK = /(?<![\d:.])(\d{1,2}):([0-5]\d):([0-5]\d)(?![\d:])/;
const UNIT =
  '(s(?:ec(?:ond(?:s|e|en|es|i|o|os)?)?s?|ek(?:unden)?)?|секунд\\p{L}*|秒|m(?:in(?:ut(?:e|es|en|o|os|i|y|a)?)?s?)?|минут\\p{L}*|分|h(?:(?:ou)?rs?|ours?|eures?)?|std|stunden?|horas?|ore|godzin\\p{L}*|час\\p{L}*|d(?:ays?)?)';
/** `5 minutes`, `180sec`, `4m30s`, `1 hour 30 minutes`. */
const SPAN = new RegExp(`(?<![\\p{L}\\d.:])(\\d{1,6}) ?${UNIT}(?![\\p{L}])|(?<=\\d[mh] ?)(\\d{1,5}) ?(s|m)\\b`, 'giu');
/** A duration counts only after a phrase about waiting: "300 messages per 5 minutes" does not. */
const WAITING =
  /\b(?:in|after|for|wait|within|least|another|until|about|approx\w*|timeout|retry|delay(?:ed)?|dans|apr[eè]s|en|nach|tra|fra|za|po)\s*[:=(]?\s*(?:at least |about |approx\w*\.? |another |the next |ca\.? |~ ?)?$|(?:через|以降|請|请)\s*$/iu;
const NOT_WAITING = /\b(?:last|past|per|previous|every|more than|less than|maximum of|limit)\W*$/i;

const SECONDS: readonly (readonly [RegExp, number])[] = [
  [/^(?:s|сек|秒)(?!td|tun)/i, 1],
  [/^(?:m|мин|分)/i, 60],
  [/^(?:h|std|stun|ore|godz|час)/i, 3600],
  [/^d/i, 86_400],
];
const secondsOf = (unit: string): number => SECONDS.find(([pattern]) => pattern.test(unit))?.[1] ?? 1;

/**
 * The delay that a temporary refusal announces, in seconds from 1 to 86,400, or null: "try again in 5 minutes",
 * "retry after 300 seconds", "Greylisted for 180 seconds", "please come back in 00:04:59".
 */
export function announcedDelay(text: string): number | null {
  const head = text.slice(0, 1500);
  if (!/\d/.test(head)) return null;
  const clock = CLOCK.exec(head);
  if (clock !== null && waits(head.slice(0, clock.index))) {
    return bounded(Number(clock[1]) * 3600 + Number(clock[2]) * 60 + Number(clock[3]));
  }
  let total = 0;
  let end = -1;
  for (const match of head.matchAll(SPAN)) {
    const between = end < 0 ? '' : head.slice(end, match.index);
    if (end < 0 ? !waits(head.slice(0, match.index)) : !/^(?:\s*|\s*,?\s*(?:and|und|et)\s+|\s*,\s*)$/i.test(between)) {
      if (end < 0) continue;
      break;
    }
    total += Number(match[1] ?? match[3]) * secondsOf(match[2] ?? match[4] ?? 's');
    end = match.index + match[0].length;
  }
  return bounded(total);
}

const waits = (before: string): boolean => {
  const near = before.slice(-40);
  return WAITING.test(near) && !NOT_WAITING.test(near);
};

const bounded = (seconds: number): number | null => (seconds < 1 ? null : Math.min(seconds, MAX_DELAY_SECONDS));
