import { describe, expect, it } from 'vitest';
import { cookieValue, isTimeZone, preferredLanguage } from './languages.ts';

describe('preferredLanguage', () => {
  it.each([
    [undefined, 'en'],
    ['', 'en'],
    ['de', 'de'],
    ['de-AT,de;q=0.9,en;q=0.8', 'de'],
    ['en-US,en;q=0.9,de;q=0.8', 'en'],
    ['nl, fr;q=0.4, de;q=0.5', 'de'],
    ['FR-ca', 'fr'],
    ['de;q=0, fr;q=0.1', 'fr'],
    ['de;q=x', 'en'],
    ['ja, *;q=0.5', 'en'],
    ['constructor', 'en'],
  ])('of %j is %s', (accepted, language) => {
    expect(preferredLanguage(accepted)).toBe(language);
  });

  it('looks at a bounded number of ranges', () => {
    expect(preferredLanguage(`${'nl,'.repeat(20)}de`)).toBe('en');
  });
});

describe('cookieValue', () => {
  it('reads one of several, decoded', () => {
    const cookies = 'a=1; mailvet_time_zone=Europe%2FBerlin; xmailvet_time_zone=UTC';
    expect(cookieValue(cookies, 'mailvet_time_zone')).toBe('Europe/Berlin');
    expect(cookieValue(cookies, 'time_zone')).toBeUndefined();
    expect(cookieValue('a=%', 'a')).toBeUndefined();
    expect(cookieValue(undefined, 'a')).toBeUndefined();
  });
});

describe('isTimeZone', () => {
  it.each([
    ['Europe/Berlin', true],
    ['UTC', true],
    ['Mars/Olympus', false],
    ['', false],
    ['x'.repeat(65), false],
    [undefined, false],
  ])('%j: %s', (name, known) => {
    expect(isTimeZone(name)).toBe(known);
  });
});
