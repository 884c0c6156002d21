import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commandLine, forwardPath, needsSmtputf8, parseCapabilities } from './dialogue.ts';

describe('commandLine', () => {
  it('accepts one printable line', () => {
    expect(commandLine('RCPT TO:<пётр@x.test>')).toBe('RCPT TO:<пётр@x.test>');
  });

  it.each([
    'a\r\nDATA',
    'a\nb',
    'a\rb',
    'a\0b',
    'a\u007fb',
    'a\u0085b',
    'a\u2028b',
    'a\ud800b',
    'x'.repeat(521),
  ])('throws for %j', (text) => {
    expect(() => commandLine(text)).toThrow(TypeError);
  });
});

describe('forwardPath', () => {
  it.each([
    ['jane.doe+tag', 'x.test'],
    ['"a b"', 'x.test'],
    ['"a\\"b"', 'x.test'],
    ['пётр', 'x.test'],
    ["!#$%&'*+/=?^_`{|}~-", 'xn--e1aybc.test'],
  ])('takes %j at %j', (localPart, domain) => {
    expect(forwardPath({ localPart, domain })).toBe(`${localPart}@${domain}`);
  });

  it.each([
    ['a> SIZE=1', 'x.test'],
    ['a b', 'x.test'],
    ['"a"b"', 'x.test'],
    ['"a', 'x.test'],
    ['"', 'x.test'],
    ['', 'x.test'],
    ['a', 'x.test> NOTIFY=NEVER'],
    ['a', '[127.0.0.1]'],
    ['a', ''],
    ['"a\r\nb"', 'x.test'],
    ['a'.repeat(300), 'x.test'],
  ])('refuses %j at %j', (localPart, domain) => {
    expect(forwardPath({ localPart, domain })).toBeNull();
  });

  it('never returns text that could end its brackets or its line', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (localPart, domain) => {
        const path = forwardPath({ localPart, domain });
        if (path === null) return;
        expect(() => commandLine(`RCPT TO:<${path}>`)).not.toThrow();
        if (!localPart.startsWith('"')) expect(path).not.toMatch(/[<>\s]/);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('parseCapabilities', () => {
  it('parses keywords in any case, with parameters, and skips the greeting', () => {
    const lines = ['PIPELINING is my name', 'pipelining', 'STARTTLS ', 'SMTPUTF8 x', 'SIZE 1'];
    expect(parseCapabilities(lines)).toEqual({ pipelining: true, startTls: true, smtputf8: true });
    expect(parseCapabilities(lines.slice(0, 1))).toEqual({ pipelining: false, startTls: false, smtputf8: false });
    expect(parseCapabilities([])).toEqual({ pipelining: false, startTls: false, smtputf8: false });
  });

  it('detects paths that need SMTPUTF8', () => {
    expect([needsSmtputf8('a@x.test'), needsSmtputf8('é@x.test')]).toEqual([false, true]);
  });
});
