import { performance } from 'node:perf_hooks';
import { expect, it } from 'vitest';
import { encoderOf, hasByteOrder } from './encode-text.ts';

/** Texts that the encoding has, by people who use it. */
const TEXTS: readonly (readonly [encoding: string, text: string])[] = [
  ['utf-8', 'Ünïcødé 日本 😀'],
  ['utf-16le', 'Ünïcødé 日本 😀'],
  ['utf-16be', 'Ünïcødé 日本 😀'],
  ['windows-1252', 'Müller, “Zoë” – 10 €'],
  ['windows-1250', 'Łódź, Žižkov'],
  ['windows-1251', 'Привет, Київ'],
  ['windows-1253', 'Καλημέρα'],
  ['windows-1254', 'İstanbul, ışık'],
  ['windows-1255', 'שלום'],
  ['windows-1256', 'مرحبا'],
  ['iso-8859-2', 'Łódź'],
  ['koi8-r', 'Привет'],
  ['macintosh', 'Müller'],
  ['ibm866', 'Привет'],
  ['shift_jis', '山田太郎 ｱｲｳ テスト'],
  ['euc-jp', '山田太郎 テスト 丂'],
  ['euc-kr', '안녕하세요'],
  ['big5', '你好，台灣'],
  ['gbk', '你好，中国'],
  ['gb18030', '你好 Ünï ḿ ᠀'],
];

it.each(TEXTS)('%s is decoded to what was encoded', (encoding, text) => {
  const encode = encoderOf(encoding);
  expect(new TextDecoder(encoding, { ignoreBOM: true }).decode(encode?.(`"a@b.de",${text}\r\n`))).toBe(
    `"a@b.de",${text}\r\n`,
  );
});

it('writes a question mark for what an encoding lacks, and none in encodings with states', () => {
  expect(encoderOf('windows-1252')?.('a Ж 😀 é').toString('latin1')).toBe('a ? ? é');
  expect(encoderOf('iso-2022-jp')).toBeNull();
  expect([hasByteOrder('utf-16le'), hasByteOrder('windows-1252')]).toEqual([true, false]);
});

it('makes a table once, in no time that a request would notice', () => {
  const began = performance.now();
  for (let n = 0; n < 100; n++) encoderOf('gb18030')?.('你好');
  expect(performance.now() - began).toBeLessThan(2_000);
});
