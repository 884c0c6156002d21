import { buffer } from 'node:stream/consumers';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../kernel/errors.ts';
import { readForm } from './upload.ts';

const BOUNDARY = 'XX';

async function* cut(bytes: Buffer, sizes: readonly number[]) {
  for (let at = 0, n = 0; at < bytes.length; n++) {
    const size = sizes[n % sizes.length] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

async function read(bytes: Buffer, sizes: readonly number[]) {
  let content: string | null = null;
  const fields = await readForm(cut(bytes, sizes), {
    boundary: BOUNDARY,
    file: 'file',
    fieldBytes: 100,
    async take({ body }) {
      content = (await buffer(body)).toString();
    },
  });
  return { fields, content };
}

/** What looks like a boundary, or the beginning of one. */
const text = fc
  .array(fc.constantFrom('a', '\r', '\n', '\r\n', '-', '--', '--X', '\r\n--X', '\r\n--', 'X', ' ', 'é'), {
    maxLength: 20,
  })
  .map((pieces) => pieces.join(''))
  .filter((joined) => !`\r\n${joined}\r\n`.includes(`\r\n--${BOUNDARY}`));
const blanks = fc.constantFrom('', ' ', '\t ');
const sizes = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 5 });

describe('a form', () => {
  it('is read whatever stands in its parts, and however it arrives', async () => {
    const form = fc.record({ before: text, padding: blanks, field: text, file: text, after: text, sizes });
    await fc.assert(
      fc.asyncProperty(form, async ({ before, padding, field, file, after, sizes }) => {
        const part = (head: string, body: string) =>
          `--XX${padding}\r\nContent-Disposition: form-data; ${head}\r\n\r\n${body}\r\n`;
        const first = before === '' ? '' : `${before}\r\n`;
        const body = `${first}${part('name="a"', field)}${part('name=file', file)}--XX--${after}`;
        expect(await read(Buffer.from(body), sizes)).toEqual({ fields: [['a', field]], content: file });
      }),
    );
  });

  it('that is damaged is an ApiError, or another form', async () => {
    const piece = fc.constantFrom(
      '--XX',
      '--XX--',
      '\r\n',
      '\r\n\r\n',
      ' ',
      '\t',
      ':',
      ';',
      '=',
      '"',
      'x'.repeat(9_000),
      '\0',
      'é',
      'Content-Disposition: form-data; name=file',
      'Content-Disposition: form-data; name="a"',
      'X-Y: z',
      '*=utf-8',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 40 }), sizes, async (pieces, sizes) => {
        const outcome = await read(Buffer.from(pieces.join('')), sizes).catch((error: unknown) => error);
        if (outcome instanceof Error) expect(outcome).toBeInstanceOf(ApiError);
      }),
    );
  });

  it('whose file cannot be stored fails with that error, and so does one whose input fails', async () => {
    const body = Buffer.from('--XX\r\nContent-Disposition: form-data; name=file\r\n\r\nabc\r\n--XX--');
    const full = new Error('The disk is full.');
    const reading = { boundary: BOUNDARY, file: 'file', fieldBytes: 100 };
    const form = readForm(cut(body, [5]), { ...reading, take: () => Promise.reject(full) });
    await expect(form).rejects.toBe(full);
    const late = new ApiError('request_timeout');
    const input = (async function* () {
      yield body.subarray(0, 55);
      throw late;
    })();
    const ended = readForm(input, { ...reading, take: async ({ body }) => void (await buffer(body)) });
    await expect(ended).rejects.toBe(late);
  });
});
