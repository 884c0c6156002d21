/** Which encoding a text has, and its decoder. */

import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { encodingNamed } from '../kernel/encoding-names.ts';
import { CR, LF, TAB } from '../kernel/facts/ascii.ts';
import { unreadable } from './problems.ts';

export interface Encoding {
  /** The name is of the WHATWG's Encoding Standard, or `ibm437`, `ibm850` or `ibm852`. */
  readonly name: string;
  /** Says whether a byte order mark said so. */
  readonly byteOrderMark: boolean;
  /** Counts bytes before the text. */
  readonly skip: number;
  /** Whether another encoding may be meant: it was stated neither by the sender nor by the bytes. */
  readonly isGuessed: boolean;
}

/** Upper halves of code pages that the standard lacks. */
const CODE_PAGES: Readonly<Record<string, string>> = {
  ibm850:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0',
  ibm437:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
  ibm852:
    'ÇüéâäůćçłëŐőîŹÄĆÉĹĺôöĽľŚśÖÜŤťŁ×čáíóúĄąŽžĘę¬źČş«»░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐└┴┬├─┼Ăă╚╔╩╦╠═╬¤đĐĎËďŇÍÎě┘┌█▄ŢŮ▀ÓßÔŃńňŠšŔÚŕŰýÝţ´\u00ad˝˛ˇ˘§÷¸°¨˙űŘř■\u00a0',
};
/** Text of blocks, which may end inside a character. */
type Decode = (bytes: Uint8Array, isLast: boolean) => string;

export function decoderOf(name: string): Decode {
  const page = CODE_PAGES[name];
  if (page === undefined) {
    const decoder = new TextDecoder(name, { ignoreBOM: true });
    return (bytes, isLast) => decoder.decode(bytes, { stream: !isLast });
  }
  const characters = Array.from({ length: 256 }, (_, i) => (i < 128 ? String.fromCharCode(i) : page.charAt(i - 128)));
  return (bytes) => {
    let text = '';
    for (const byte of bytes) text += characters[byte] ?? '';
    return text;
  };
}

const decodedBytes = (name: string, bytes: Uint8Array): string => decoderOf(name)(bytes, true);

const startsWithBytes = (bytes: Buffer, ...signature: number[]): boolean =>
  signature.every((byte, i) => bytes[i] === byte);

function markOf(bytes: Buffer): { name: string; skip: number } | null {
  if (startsWithBytes(bytes, 0xff, 0xfe, 0, 0) || startsWithBytes(bytes, 0, 0, 0xfe, 0xff))
    throw unreadable('it is UTF-32; save it as UTF-8');
  if (startsWithBytes(bytes, 0xff, 0xfe)) return { name: 'utf-16le', skip: 2 };
  if (startsWithBytes(bytes, 0xfe, 0xff)) return { name: 'utf-16be', skip: 2 };
  if (!startsWithBytes(bytes, 0xef, 0xbb, 0xbf)) return null;
  let skip = 3;
  // Programs that add a mark to a file that has one.
  while (startsWithBytes(bytes.subarray(skip), 0xef, 0xbb, 0xbf)) skip += 3;
  return { name: 'utf-8', skip };
}

const isPlainByte = (byte: number): boolean =>
  (byte >= 0x20 && byte < 0x7f) || byte === LF || byte === CR || byte === TAB;

/** UTF-16 without a byte order mark: of its ASCII characters, every other byte is zero. */
export function unmarkedUtf16(bytes: Buffer): 'utf-16le' | 'utf-16be' | null {
  const pairs = Math.min(bytes.length, 4096) >> 1;
  let [even, odd] = [0, 0];
  for (let i = 0; i < pairs; i++) {
    const [first = 0, second = 0] = bytes.subarray(2 * i, 2 * i + 2);
    if (first === 0 && isPlainByte(second)) even += 1;
    if (second === 0 && isPlainByte(first)) odd += 1;
  }
  // A few of the other kind are characters such as U+0100.
  if (odd > pairs / 4 && even * 20 < odd) return 'utf-16le';
  return even > pairs / 4 && odd * 20 < even ? 'utf-16be' : null;
}

/**
 * `samples`: parts of the text, the first from its beginning. `stated`: what the sender says, which counts unless the
 * bytes say otherwise; `given`: what counts whatever the bytes are. Throws FileError for one that is not known.
 */
export function detectEncoding(
  samples: readonly Buffer[],
  { stated = null, given = null }: { readonly stated?: string | null; readonly given?: string | null } = {},
): Encoding {
  const [first = Buffer.alloc(0)] = samples;
  const mark = markOf(first);
  if (given !== null) {
    const name = encodingNamed(given);
    if (name === null) throw unreadable(`there is no encoding ${JSON.stringify(given.slice(0, 40))}`);
    const skip = mark?.name === name ? mark.skip : 0;
    return { name, byteOrderMark: skip > 0, skip, isGuessed: false };
  }
  if (mark !== null) return { ...mark, byteOrderMark: true, isGuessed: false };
  const known = (name: string, isGuessed = false): Encoding => ({ name, byteOrderMark: false, skip: 0, isGuessed });
  const utf16 = unmarkedUtf16(first);
  if (utf16 !== null) return known(utf16);
  const lines = foreignLines(samples);
  if (lines.length === 0) return known(/\u001b\$[@B]/.test(first.toString('latin1')) ? 'iso-2022-jp' : 'utf-8');
  const valid = lines.filter((line) => isUtf8(line)).length;
  // Lines of two files that were put together.
  if (valid * 2 >= lines.length) return known('utf-8');
  const name = stated === null ? null : encodingNamed(stated);
  if (name !== null && name !== 'utf-8') return known(name);
  return likeliestEncoding(Buffer.concat(lines));
}

const SAMPLE_BYTES = 16 * 1024;

/** The lines with other bytes than ASCII; a line that may be cut off is left out where there are others. */
function foreignLines(samples: readonly Buffer[]): Buffer[] {
  const lines: Buffer[] = [];
  let sizeBytes = 0;
  for (const sample of samples) {
    for (let start = 0; start < sample.length; ) {
      let end = start;
      let isForeign = false;
      for (; end < sample.length; end++) {
        const byte = sample[end] ?? 0;
        if (byte === LF || byte === CR) break;
        if (byte >= 0x80) isForeign = true;
      }
      if (isForeign && (end < sample.length || lines.length === 0 || samples.length === 1)) {
        lines.push(sample.subarray(start, end + 1));
        sizeBytes += end - start;
        if (sizeBytes > SAMPLE_BYTES) return lines;
      }
      start = end + 1;
    }
  }
  return lines;
}

// Each encoding is rated by how much its text reads like one.

/** Letters beside ASCII, the frequent ones first where that tells languages apart. */
const LATIN: Readonly<Record<string, string>> = {
  de: 'üäößÜÄÖẞ',
  fr: 'éèàçêîôâëûùïœÿæÉÈÀÇÊÎÔ',
  es: 'áéíóúñüÁÉÍÓÚÑ¿¡ºª',
  pt: 'ãçáéíóúâêôõàÃÇÁÉÍÓÚ',
  it: 'àèéìòùÀÈ',
  nl: 'ëïéèöü',
  sv: 'åäöÅÄÖé',
  da: 'æøåÆØÅé',
  is: 'ðþáéíóúýæöÐÞÁÉÍÓÚÝÆÖ',
  pl: 'łóąęśżćńźŁÓŚŻĆŹ',
  cs: 'áčďéěíňóřšťúůýžľĺŕôäÁČĎÉÍŇŘŠŤÚŽĽ',
  hu: 'áéíóöőúüűÁÉÍÓÖŐÚÜŰ',
  ro: 'ăâîşţșțĂÂÎŞŢȘȚ',
  hr: 'čćđšžČĆĐŠŽ',
  tr: 'ıışğçöüİŞÇÖÜâ',
  lt: 'ąčęėįšųūžĄČĘĖĮŠŲŪŽ',
  lv: 'āčēģīķļņšūžĀČĒĢĪĶĻŅŠŪŽ',
  et: 'äõöüšžÄÕÖÜŠŽ',
  vi: 'ăâđêôơưĂÂĐÊÔƠƯáàéèíóòúùý',
};
/** Other scripts: their letters, the frequent ones first. */
const SCRIPTS: Readonly<Record<string, string>> = {
  ru: 'оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъёіїєґўљњћђџ',
  el: 'αοιετσνηυρπκμλωςθδγχφβξζψάήίόύέώϊϋΐΰ',
  he: 'ויהלאתרבשמנםדקפעחגצזסטכץןךף',
  ar: 'اليمنرتبوهدعسفحقكجطصزشخثضغذظءئؤأإآىةپچژگ',
  th: 'านรกอเงยลมตวสทดคปบหพชจแขใไโผซศณถธฟภษุูิีึืั่้็์ะำาๆฯ',
};

interface EncodingCandidate {
  readonly name: string;
  readonly languages: readonly string[];
  /** If two encodings read alike, the more usual one is taken. */
  readonly prior: number;
}
const WESTERN = ['de', 'fr', 'es', 'pt', 'it', 'nl', 'sv', 'da', 'is'];
const CENTRAL = ['pl', 'cs', 'hu', 'ro', 'hr', 'de'];
const SINGLE_BYTE: readonly EncodingCandidate[] = [
  { name: 'windows-1252', languages: WESTERN, prior: 0.03 },
  { name: 'windows-1250', languages: CENTRAL, prior: 0 },
  { name: 'windows-1251', languages: ['ru'], prior: 0 },
  { name: 'windows-1253', languages: ['el'], prior: 0 },
  { name: 'windows-1254', languages: ['tr'], prior: 0 },
  { name: 'windows-1255', languages: ['he'], prior: 0 },
  { name: 'windows-1256', languages: ['ar', 'fr'], prior: 0 },
  { name: 'windows-1257', languages: ['lt', 'lv', 'et'], prior: -0.01 },
  { name: 'windows-1258', languages: ['vi'], prior: -0.05 },
  { name: 'windows-874', languages: ['th'], prior: 0 },
  { name: 'iso-8859-2', languages: CENTRAL, prior: -0.02 },
  { name: 'iso-8859-5', languages: ['ru'], prior: -0.02 },
  { name: 'iso-8859-6', languages: ['ar'], prior: -0.02 },
  { name: 'iso-8859-7', languages: ['el'], prior: -0.02 },
  { name: 'iso-8859-4', languages: ['lt', 'lv', 'et'], prior: -0.04 },
  { name: 'koi8-r', languages: ['ru'], prior: -0.01 },
  { name: 'koi8-u', languages: ['ru'], prior: -0.015 },
  { name: 'ibm866', languages: ['ru'], prior: -0.02 },
  { name: 'x-mac-cyrillic', languages: ['ru'], prior: -0.04 },
  { name: 'macintosh', languages: WESTERN, prior: -0.04 },
  { name: 'ibm850', languages: WESTERN, prior: -0.04 },
  { name: 'ibm852', languages: CENTRAL, prior: -0.05 },
  { name: 'ibm437', languages: WESTERN, prior: -0.06 },
];

/** A text that reads no better than this is taken as Windows-1252. */
const READABLE = 0.3;
/** So much better than any other text is certain. */
const CERTAIN = 0.12;

function likeliestEncoding(bytes: Buffer): Encoding {
  const found = { byteOrderMark: false, skip: 0 };
  const wide = WIDE.map(({ name, rate }) => ({ name, score: rate(bytes), text: '' })).toSorted(byScore);
  const narrow = SINGLE_BYTE.map((candidate) => {
    const text = decodedBytes(candidate.name, bytes);
    return { name: candidate.name, score: textScore(text, candidate.languages) + candidate.prior, text };
  }).toSorted(byScore);
  const [bestWide] = wide;
  const [best] = narrow;
  if (bestWide !== undefined && bestWide.score > 0.5 && bestWide.score > (best?.score ?? 0))
    return { ...found, name: bestWide.name, isGuessed: false };
  if (best === undefined || best.score < READABLE) return { ...found, name: 'windows-1252', isGuessed: true };
  const rival = narrow.find(({ text }) => text !== best.text);
  return { ...found, name: best.name, isGuessed: rival !== undefined && rival.score > best.score - CERTAIN };
}
const byScore = (a: { score: number }, b: { score: number }): number => b.score - a.score;

const LETTER_OR_MARK = /[\p{L}\p{M}]/u;
const LOWER = /\p{Ll}/u;
const UPPER = /\p{Lu}/u;
/** Marks that people type or programs set; those that also occur inside a word. */
const TYPED_MARKS = '“”„‚‘’–—…€£§°«»©®·º¿¡\u00a0´×';
const INSIDE = '’·´';

/** -2 to 1, of the characters that are no ASCII. */
function textScore(text: string, languages: readonly string[]): number {
  const known = new Set(languages.flatMap((language) => [...(LATIN[language] ?? '')]));
  const sums = new Map(languages.map((language) => [language, 0]));
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    const character = text.charAt(i);
    if (character.charCodeAt(0) < 0x80) continue;
    count += 1;
    const before = text.charAt(i - 1);
    const after = text.charAt(i + 1);
    const placed = contextScore(character, before, after);
    for (const language of languages) {
      const letters = LATIN[language];
      const script = SCRIPTS[language];
      const fit =
        placed ??
        (letters === undefined
          ? inScript(character, script ?? '', before, after)
          : letters.includes(character)
            ? 1
            : known.has(character)
              ? -0.1
              : -0.4);
      sums.set(language, (sums.get(language) ?? 0) + fit);
    }
  }
  return count === 0 ? 0 : Math.max(...sums.values()) / count;
}

/** What a character says by where it is, in any language; null: it depends on the language. */
function contextScore(character: string, before: string, after: string): number | null {
  const [isBefore, isAfter] = [LETTER_OR_MARK.test(before), LETTER_OR_MARK.test(after)];
  if (!LETTER_OR_MARK.test(character)) {
    if (/[\ufffd\u0080-\u009f]/.test(character)) return -2;
    if (!TYPED_MARKS.includes(character)) return -1;
    return isBefore && isAfter && !INSIDE.includes(character) ? -1 : isBefore && isAfter ? 0.2 : 0.05;
  }
  if (UPPER.test(character) && LOWER.test(before)) return -1;
  if (LOWER.test(character) && UPPER.test(before) && UPPER.test(after)) return -0.6;
  return null;
}

const LATIN_LETTER = /[a-z\u00c0-\u024f]/i;

function inScript(character: string, letters: string, before: string, after: string): number {
  const at = letters.indexOf(character.toLowerCase());
  if (at < 0) return LATIN_LETTER.test(character) ? -0.4 : 0;
  if (LATIN_LETTER.test(before) || LATIN_LETTER.test(after)) return -1;
  const frequency = 1 - (0.7 * at) / letters.length;
  // Names and titles begin with one capital, lines in capitals have nothing else.
  return UPPER.test(character) && LETTER_OR_MARK.test(before) ? frequency - 0.4 : frequency;
}

// Characters of two bytes: the first byte says which of them are common, as the standards sort them.

interface WideEncoding {
  readonly name: string;
  readonly rate: (bytes: Buffer) => number;
}

/** Characters that are frequent in names, towns and headers. */
const HANS =
  '姓名邮箱电话地址市省区路号公司张王李刘陈杨黄赵周吴徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾国明华文建小大中北京上海广州深圳天津南东西江山电子件手机联系人客户订单日期备注性别年月';
const HANT =
  '姓名信箱電話地址郵件電子市縣區路號公司張王李劉陳楊黃趙周吳徐孫馬朱胡郭何高林羅鄭梁謝宋唐許韓馮鄧曹彭曾國明華文建小大中臺北灣新竹高雄東西南江山手機聯絡人客戶訂單日期備註性別年月';

/** `common`: 0 to 1 for a character, by its two bytes and what it is. */
function wideRate(name: string, common: (lead: number, trail: number, character: string) => number) {
  const decoder = new TextDecoder(name, { fatal: true });
  return (bytes: Buffer): number => {
    let text: string;
    try {
      text = decoder.decode(bytes);
    } catch (error) {
      if (error instanceof TypeError) return -1;
      throw error;
    }
    const foreign = [...text].filter((character) => character.charCodeAt(0) >= 0x80);
    let [sum, at] = [0, 0];
    for (const character of foreign) {
      while ((bytes[at] ?? 0x80) < 0x80) at += 1;
      const isOne = name === 'shift_jis' && (bytes[at] ?? 0) >= 0xa1 && (bytes[at] ?? 0) <= 0xdf;
      sum += isOne ? 0 : common(bytes[at] ?? 0, bytes[at + 1] ?? 0, character);
      at += isOne
        ? 1
        : name === 'gb18030' && (bytes[at + 1] ?? 0) < 0x40
          ? 4
          : name === 'euc-jp' && bytes[at] === 0x8f
            ? 3
            : 2;
    }
    return foreign.length === 0 ? -1 : sum / foreign.length;
  };
}

const KANA = /[\u3040-\u30ff]/;
const PUNCTUATION = /[\u3000-\u303f\uff00-\uff5e]/;

const WIDE: readonly WideEncoding[] = [
  {
    name: 'shift_jis',
    rate: wideRate('shift_jis', (lead, _trail, character) =>
      KANA.test(character) || PUNCTUATION.test(character) ? 1 : lead >= 0x88 && lead <= 0x98 ? 0.9 : 0.2,
    ),
  },
  {
    name: 'euc-jp',
    rate: japaneseRate(),
  },
  {
    name: 'gb18030',
    rate: wideRate('gb18030', (lead, trail, character) => {
      if (HANS.includes(character)) return 1;
      if (trail < 0xa1) return 0;
      return lead >= 0xb0 && lead <= 0xd7 ? 0.75 : PUNCTUATION.test(character) ? 0.7 : 0.2;
    }),
  },
  {
    name: 'big5',
    rate: wideRate('big5', (lead, _trail, character) => {
      if (HANT.includes(character)) return 1;
      return lead >= 0xa4 && lead <= 0xc6 ? 0.75 : PUNCTUATION.test(character) ? 0.7 : 0.1;
    }),
  },
  {
    name: 'euc-kr',
    rate: wideRate('euc-kr', (lead, trail, character) => {
      if (/[\uac00-\ud7a3]/.test(character)) return trail >= 0xa1 && lead >= 0xb0 && lead <= 0xc8 ? 0.88 : 0.2;
      return PUNCTUATION.test(character) ? 0.7 : 0;
    }),
  },
];

/** Without kana, a text of Chinese characters is Chinese. */
function japaneseRate(): (bytes: Buffer) => number {
  let kana = 0;
  const rate = wideRate('euc-jp', (lead, _trail, character) => {
    if (KANA.test(character)) kana += 1;
    return KANA.test(character) || PUNCTUATION.test(character) ? 1 : lead >= 0xb0 && lead <= 0xcf ? 0.85 : 0.2;
  });
  return (bytes) => {
    kana = 0;
    const score = rate(bytes);
    return kana === 0 ? score - 0.2 : score;
  };
}
