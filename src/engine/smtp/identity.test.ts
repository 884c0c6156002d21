import { describe, expect, it } from 'vitest';
import { isQualifiedName, parseSender, senderFor } from './mailbox.ts';

describe('isQualifiedName', () => {
  it.each(['mail.example.com', 'a.b', 'xn--e1aybc.xn--p1ai', 'MX-1.example.com'])('takes %s', (name) => {
    expect(isQualifiedName(name)).toBe(true);
  });
  it.each([
    'localhost',
    'box',
    'a.localhost',
    'x.localdomain',
    '127.0.0.1',
    '::1',
    '[127.0.0.1]',
    'a..b',
    '-a.b',
    'a.b.',
    '',
  ])('refuses %j', (name) => {
    expect(isQualifiedName(name)).toBe(false);
  });
});

describe('the sender', () => {
  it('is an address or the null sender', () => {
    expect(parseSender('<>')).toBe('');
    expect(parseSender('verify@example.com')).toBe('verify@example.com');
    expect(parseSender('<verify@example.com>')).toBe('verify@example.com');
  });
  it.each([
    '',
    'verify',
    '@example.com',
    'a b@example.com',
    'a@b\r\nDATA',
    'a@exa mple',
    'a>@b.com',
  ])('is not %j', (text) => {
    expect(parseSender(text)).toBeNull();
  });
  it('is never in the domain being checked', () => {
    expect(senderFor('verify@example.com', 'EXAMPLE.com')).toBe('');
    expect(senderFor('verify@example.com', 'sub.example.com')).toBe('verify@example.com');
    expect(senderFor('', 'example.com')).toBe('');
  });
});
