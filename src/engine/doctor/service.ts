/** Checks of the service itself: fresh lists, a writable store, a correct clock. */

import { DAY_MS, fromIso } from '../../kernel/clock.ts';
import { CLOCK_TOLERANCE_SECONDS, LISTS_STALE_DAYS } from '../../kernel/facts/limits.ts';
import { type DoctorDeps, type Finding, fail, pass, warn } from './deps.ts';

const USELESS_DAYS = 180;
const NOT_READY =
  '`mailvet serve` and `mailvet migrate` create and migrate it. Check MAILVET_DATABASE_URL if it is elsewhere.';
const UPDATE = 'Run `mailvet disposable update`, every day.';

/** Whole days since a list's date; 0 if the date is invalid. */
export const ageInDays = (version: string, now: number): number =>
  Math.max(0, Math.floor((now - (fromIso(version) ?? now)) / DAY_MS));

export function checkLists(deps: DoctorDeps): Finding {
  const { version, problem } = deps.lists;
  const days = ageInDays(version, deps.clock.now());
  const found = `The disposable list is dated ${version}, ${days} ${days === 1 ? 'day' : 'days'} old.`;
  if (days > USELESS_DAYS) return fail('lists', found, UPDATE);
  if (problem !== null) return warn('lists', `${found} A newer one is not in use: ${problem}.`, UPDATE);
  return days > LISTS_STALE_DAYS ? warn('lists', found, UPDATE) : pass('lists', found);
}

const isOff = (ms: number): boolean => Math.abs(ms) > CLOCK_TOLERANCE_SECONDS * 1000;
const differenceOf = (ms: number): string => `${Math.round(Math.abs(ms) / 1000)} s ${ms < 0 ? 'behind' : 'ahead of'}`;

export async function checkStore(deps: DoctorDeps): Promise<Finding> {
  try {
    const state = await deps.store();
    if ('notReady' in state) return warn('store', state.notReady, NOT_READY);
    const { name, looseModes, clock } = state;
    const found = `It accepts writes (${name}).`;
    if (isOff(clock.aheadMs))
      return fail(
        'store',
        `${found} The clock of this host is ${differenceOf(clock.aheadMs)} that of the store.`,
        SYNCHRONIZE,
      );
    if (isOff(clock.stepMs))
      return warn(
        'store',
        `${found} Its clock is ${differenceOf(clock.stepMs)} the last time it was used.`,
        `${SYNCHRONIZE} After a long downtime this is normal.`,
      );
    if (looseModes.length === 0) return pass('store', found);
    const paths = looseModes.map(({ path, mode }) => `${path} (mode ${mode})`).join(', ');
    const fix = `Run ${looseModes.map((loose) => `\`${loose.fix}\``).join(', ')}.`;
    return warn('store', `${found} Other users of this host can read or change ${paths}.`, fix);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const fix = 'Check MAILVET_DATABASE_URL, the free space, and the permissions of its folder.';
    return fail('store', `The store does not accept writes: ${why.replace(/\.$/, '')}.`, fix);
  }
}

const OFF_WARN_S = 30;
const OFF_FAIL_S = 300;
const SYNCHRONIZE = 'Synchronize the clock by NTP: `timedatectl set-ntp true`, or chrony.';

/** Compares the clock with the Date header of an HTTP reply, which is accurate to a second or two. */
export async function checkClock(deps: DoctorDeps): Promise<Finding> {
  const before = deps.clock.now();
  const answer = await deps.httpDate().catch(() => null);
  const ours = (before + deps.clock.now()) / 2;
  const theirs = parseHttpDate(answer?.date ?? '');
  if (answer === null || theirs === null) {
    const why = answer === null ? 'no web server answered' : `${answer.from} sent no date`;
    return warn('clock', `The clock could not be compared: ${why}.`, 'Make sure that it is synchronized by NTP.');
  }
  // A cache may have kept the date for `Age` seconds, or written its own: the smaller difference is the real one.
  const age = /^\d{1,9}$/.test(answer.age ?? '') ? Number(answer.age) : 0;
  const differences = [0, age].map((seconds) => (ours - theirs) / 1000 - 0.5 - seconds);
  const off = differences.reduce((a, b) => (Math.abs(b) < Math.abs(a) ? b : a));
  const apart = Math.round(Math.abs(off));
  const found = `The clock is ${apart} s ${off < 0 ? 'behind' : 'ahead of'} that of ${answer.from}.`;
  if (apart > OFF_FAIL_S) return fail('clock', found, SYNCHRONIZE);
  return apart > OFF_WARN_S
    ? warn('clock', found, SYNCHRONIZE)
    : pass('clock', `The clock agrees with that of ${answer.from}.`);
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const HTTP_DATE = /^\w{3}, (\d{2}) (\w{3}) (\d{4}) (\d{2}):(\d{2}):(\d{2}) GMT$/;

/** Milliseconds of an IMF-fixdate (RFC 9110 §5.6.7), or null. */
export function parseHttpDate(text: string): number | null {
  const match = HTTP_DATE.exec(text);
  const month = MONTHS.indexOf(match?.[2] ?? '');
  if (match === null || month < 0) return null;
  const [, day, , year = 0, hour, minute, second] = match.map(Number);
  return Date.UTC(year, month, day, hour, minute, second);
}
