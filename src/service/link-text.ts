/**
 * What mail clients turn into a link. Names of accounts and users, which anybody may choose, end up in mails that
 * others get, so they must not contain any.
 */
import { domainToASCII } from 'node:url';
import { tldIsListed } from '../engine/address/parse.ts';
import { MAILED_NAME_LENGTH } from '../kernel/facts/limits.ts';

/**
 * Characters that no name needs: control characters, lone surrogates, line and paragraph separators, and invisible
 * characters that reorder or hide text (UAX #9, UTR #36). Not joiners, which some scripts and emoji need.
 */
export const UNSAFE_CHARACTERS =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/**
 * As clients that normalize names see it (UTS #46): full-width letters and dots are plain ones, the invisible is gone.
 */
const normalizedName = (text: string): string =>
  text.normalize('NFKC').replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '');

/** Matches a scheme, `www.`, a Windows share or an IPv4 address. */
const MARKED =
  /[a-z][a-z0-9+.-]*:\/\/|(?<![\p{L}\p{N}])(?:(?:mailto|tel|sms|file):\S|www\d{0,3}[.。]\S)|\\\\\S|(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])/iu;
/** Matches a dot, or the ideographic one, after a label, and the next label. */
const LABEL_DOT = /(?<=[\p{L}\p{N}\p{M}_-])[.。]([\p{L}\p{N}\p{M}-]+)/gu;

/**
 * Whether a label, or its beginning, is a top-level domain. The beginning, because clients differ in where they let a
 * host name end: `evil.com-x`, `evil.com様`.
 */
function endsHostName(label: string): boolean {
  const beginnings = [/^[a-z0-9]+/i, /^[\p{L}\p{N}\p{M}]+/u].map((form) => form.exec(label)?.[0] ?? '');
  return [label, ...beginnings].some((part) => /\P{N}/u.test(part) && tldIsListed(domainToASCII(part)));
}

/** The first word that contains a URL, a host name or an email address; null if none does. Linear in its length. */
export function findLink(text: string): string | null {
  const seen = normalizedName(text);
  const host = [...seen.matchAll(LABEL_DOT)].find(([, label = '']) => endsHostName(label));
  const at = host?.index ?? MARKED.exec(seen)?.index;
  if (at === undefined) return null;
  return `${/\S*$/.exec(seen.slice(0, at))?.[0]}${/^\S*/.exec(seen.slice(at))?.[0]}`;
}

/**
 * A name as it may appear in a mail: one line of at most `MAILED_NAME_LENGTH` characters, without links. Changes only
 * names that were stored before they were checked.
 */
export function harmlessName(name: string): string {
  const line = cutName(onOneLine(name));
  return findLink(line) === null ? line : cutName(onOneLine(normalizedName(line).replaceAll(/[.。:/\\]+/g, ' ')));
}

const onOneLine = (text: string): string => text.replaceAll(UNSAFE_CHARACTERS, ' ').replaceAll(/\s+/g, ' ').trim();

function cutName(text: string): string {
  const characters = [...text];
  return characters.length <= MAILED_NAME_LENGTH
    ? text
    : `${characters
        .slice(0, MAILED_NAME_LENGTH - 1)
        .join('')
        .trim()}…`;
}
