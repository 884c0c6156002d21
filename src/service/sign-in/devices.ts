import { DEVICE_DAYS } from '../../kernel/facts/lifetimes.ts';
import { DEVICE_USERS_MAX } from '../../kernel/facts/limits.ts';
import type { Store } from '../../store/store.ts';
import type { Library } from './library.ts';
import { type BrowserRequest, cookiesOf, hasCookie, headersOf } from './library-calls.ts';
import type { Origin } from './limits.ts';

/** A User-Agent header names these. The first match is taken, as browsers name those that they descend from as well. */
const BROWSERS: readonly (readonly [token: RegExp, name: string])[] = [
  [/\bEdg(?:A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Headless)?(?:Chrome|Chromium|CriOS)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
];
const SYSTEMS: readonly (readonly [token: RegExp, name: string])[] = [
  [/\bWindows\b/, 'Windows'],
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac(?:intosh| OS X)\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];
/** No browser's is longer. */
const LENGTH_MAX = 512;

/**
 * A name for the device, such as `Firefox on Linux`; null if the header says nothing that is known. It proves nothing.
 */
export function deviceName(userAgent: string | undefined): string | null {
  const text = (userAgent ?? '').slice(0, LENGTH_MAX);
  const nameIn = (rows: typeof BROWSERS) => rows.find(([token]) => token.test(text))?.[1] ?? null;
  const [browser, system] = [nameIn(BROWSERS), nameIn(SYSTEMS)];
  return browser !== null && system !== null ? `${browser} on ${system}` : (browser ?? system);
}

/**
 * Devices that have signed in before, known by a signed cookie that survives signing out. It is no session: all it
 * gives is limits of its own, so that other people's attempts at an address cannot lock its user out.
 */
export interface Devices {
  /** Where an attempt at this address comes from: a device of its user, or just a network. */
  originFor(browser: BrowserRequest, email: string): Promise<Origin>;
  /** The same by the user's ID; null: whoever has signed in on the device. */
  originOf(browser: BrowserRequest, user: string | null): Promise<Origin>;
  /** Returns the cookie after a complete sign-in, as headers. */
  remember(browser: BrowserRequest, user: string): Promise<readonly string[]>;
}

interface Device {
  readonly id: string;
  /** The latest is first. */
  readonly users: readonly string[];
}

const TOKEN_SEPARATOR = '.';

const toDevice = (value: string): Device | null => {
  const [id, ...users] = value.split(TOKEN_SEPARATOR);
  return id ? { id, users } : null;
};

interface DeviceParts {
  readonly library: () => Promise<Library>;
  readonly users: Pick<Store['users'], 'get'>;
  /** Makes the id of a new device. */
  readonly newId: () => string;
}

export function createDevices({ library, users, newId }: DeviceParts): Devices {
  async function read(browser: BrowserRequest): Promise<Device | null> {
    if (!hasCookie(browser.cookie, 'device')) return null;
    const { api } = await library();
    const value = await api.deviceCookie({ headers: headersOf(browser, 'device') });
    return value === null ? null : toDevice(value);
  }

  return {
    // Looks only at the device's own users, so that the time taken says nothing about other addresses.
    async originFor(browser, email) {
      const device = await read(browser);
      for (const id of device?.users ?? [])
        if ((await users.get(id))?.email === email) return { ip: browser.ip, device: device?.id ?? null };
      return { ip: browser.ip, device: null };
    },

    async originOf(browser, user) {
      const device = await read(browser);
      const known = device !== null && (user === null || device.users.includes(user));
      return { ip: browser.ip, device: known ? device.id : null };
    },

    async remember(browser, user) {
      const { id, users: earlier } = (await read(browser)) ?? { id: newId(), users: [] };
      const all = [user, ...earlier.filter((other) => other !== user)].slice(0, DEVICE_USERS_MAX);
      const { api } = await library();
      const body = { value: [id, ...all].join(TOKEN_SEPARATOR), days: DEVICE_DAYS };
      return cookiesOf((await api.setDeviceCookie({ body, returnHeaders: true })).headers);
    },
  };
}
