import { expect, it } from 'vitest';
import { escapeInvisible, escapeInvisibleJson } from './escape-invisible.ts';

it.each([
  ['250 2.1.5 Ok', '250 2.1.5 Ok'],
  ['250 größe 漢字 😀', '250 größe 漢字 😀'],
  ['a\r\nb\tc\0', 'a⟨CR⟩⟨LF⟩b⟨TAB⟩c⟨NUL⟩'],
  ['\u001b[31mred\u007f', '⟨ESC⟩[31mred⟨DEL⟩'],
  ['\u001f', '⟨US⟩'],
  ['\u0085\u009b', '⟨U+0085⟩⟨U+009B⟩'],
  ['abc\u202Etxt.exe', 'abc⟨U+202E⟩txt.exe'],
  ['zero\u200Bwidth\uFEFF', 'zero⟨U+200B⟩width⟨U+FEFF⟩'],
  ['\u2028\u2029', '⟨U+2028⟩⟨U+2029⟩'],
  ['half \ud83d', 'half ⟨U+D83D⟩'],
  ['tag \u{E0041}', 'tag ⟨U+E0041⟩'],
])('%j', (text, shown) => {
  expect(escapeInvisible(text)).toBe(shown);
});

it('escapes the same characters in JSON and keeps its value', () => {
  const value = { text: 'a\nb\u202Ec\u{E0041}\u007f\ud83d "x" \\', list: [1, null] };
  const json = escapeInvisibleJson(value);
  expect(json).toContain('"a\\nb\\u202ec\\udb40\\udc41\\u007f\\ud83d \\"x\\" \\\\"');
  expect(JSON.parse(json)).toEqual(value);
});
