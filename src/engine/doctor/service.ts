/** What the service itself needs: fresh lists, a store that takes writes, a clock that is right. */
import { fromIso } from '../../kernel/clock.ts';
import { type Finding, fail, pass, type World, warn } from './world.ts';

const DAY_MS = 86_400_000;
const STALE_DAYS = 30;
const USELESS_DAYS = 180;
const UPDATE = 'Run `mailvet lists update`, every day.';

/** Whole days since the date of a list; 0 where the date is none. */
export const ageInDays = (version: string, now: number): number =>
  Math.max(0, Math.floor((now - (fromIso(version) ?? now)) / DAY_MS));

export function checkLists(world: World): Finding {
  const { version, problem } = world.lists;
  const days = ageInDays(version, world.clock.now());
  const found = `The disposable list is of ${version}, ${days} ${days === 1 ? 'day' : 'days'} old.`;
  if (days > USELESS_DAYS) return fail('lists', found, UPDATE);
  if (problem !== null) return warn('lists', `${found} A newer one is not in use: ${problem}.`, UPDATE);
  return days > STALE_DAYS ? warn('lists', found, UPDATE) : pass('lists', found);
}

export async function checkStore(world: World): Promise<Finding> {
  try {
    return pass('store', `It takes writes (${await world.store()}).`);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const fix = 'Look at MAILVET_DATABASE_URL, at the free space, and at the rights of its folder.';
    return fail('store', `The store does not take writes: ${why.replace(/\.$/, '')}.`, fix);
  }
}

const OFF_WARN_S = 30;
const OFF_FAIL_S = 300;
const SYNCHRONISE = 'Let the clock be set by NTP: `timedatectl set-ntp true`, or chrony.';

/** The clock against the Date header of somebody's HTTP reply, which is exact to a second or two. */
export async function checkClock(world: World): Promise<Finding> {
  const before = world.clock.now();
  const answer = await world.httpDate().catch(() => null);
  const ours = (before + world.clock.now()) / 2;
  const theirs = parseHttpDate(answer?.date ?? '');
  if (answer === null || theirs === null) {
    const who = answer === null ? 'no server on the web answered' : `${answer.from} told no date`;
    return warn('clock', `The clock could not be compared: ${who}.`, 'Make sure that it is set by NTP.');
  }
  // A cache may have kept the date for `Age` seconds, or written its own: the smaller difference is the true one.
  const age = /^\d{1,9}$/.test(answer.age ?? '') ? Number(answer.age) : 0;
  const differences = [0, age].map((seconds) => (ours - theirs) / 1000 - 0.5 - seconds);
  const off = differences.reduce((a, b) => (Math.abs(b) < Math.abs(a) ? b : a));
  const apart = Math.round(Math.abs(off));
  const found = `The clock is ${apart} s ${off < 0 ? 'behind' : 'ahead of'} that of ${answer.from}.`;
  if (apart > OFF_FAIL_S) return fail('clock', found, SYNCHRONISE);
  return apart > OFF_WARN_S
    ? warn('clock', found, SYNCHRONISE)
    : pass('clock', `The clock agrees with that of ${answer.from}.`);
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const HTTP_DATE = /^\w{3}, (\d{2}) (\w{3}) (\d{4}) (\d{2}):(\d{2}):(\d{2}) GMT$/;

/** Milliseconds of an IMF-fixdate (RFC 9110 §5.6.7), or null. */
export function parseHttpDate(text: string): number | null {
  const match = HTTP_DATE.exec(text);
  const month = MONTHS.indexOf(match?.[2] ?? '');
  if (match === null || month < 0) return null;
  const [, day, , year, hour, minute, second] = match.map(Number);
  return Date.UTC(year!, month, day, hour, minute, second);
}
