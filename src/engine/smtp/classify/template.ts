import { createHash } from 'node:crypto';
import { type Echoes, fold } from './echoes.ts';

/** Characters of a template. */
const TEMPLATE_MAX = 300;

export interface Template {
  /** Of code, enhanced code and text. 12 hex digits. */
  readonly fingerprint: string;
  readonly text: string;
}

/**
 * What replies have in common that differ only in addresses, hosts, names, times or ids: `_name has no mailbox # here`.
 * `plain`: the text after `takeOutEchoes`. `isWord`: whether a word has a meaning in the lexicon. Words of the checked
 * address that have none are taken out as well, since servers greet their users by name.
 */
export function templateOf(
  reply: { readonly code: number; readonly enhanced: string | null },
  plain: string,
  { address }: Pick<Echoes, 'address'>,
  isWord: (word: string) => boolean,
): Template {
  const named = new Set((fold(address).match(/\p{L}{3,}/gu) ?? []).filter((word) => !isWord(word)));
  const text = plain
    .replace(/(?<![\p{L}_])\p{L}{3,}/gu, (word) => (named.has(word) ? '_name' : word))
    .replaceAll('_ourip', '_ip')
    .replace(/\S*\d\S*/g, '#')
    .replace(/#(?: #)+/g, '#')
    .slice(0, TEMPLATE_MAX)
    .toWellFormed();
  const { code, enhanced } = reply;
  const fingerprint = createHash('sha256')
    .update(`${code} ${enhanced ?? ''} ${text}`)
    .digest('hex')
    .slice(0, 12);
  return { fingerprint, text };
}
