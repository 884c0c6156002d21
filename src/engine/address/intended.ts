/** `did_you_mean` for text that is no address: what is left of it without what people and programs put around one. */
import { trimBlanks } from '../../kernel/blanks.ts';
import { ADDRESS_LENGTH } from '../../kernel/facts/limits.ts';
import { type ParseOptions, parseAddress } from './parse.ts';
import { didYouMeanText, type SuggestionLists } from './suggest.ts';

/**
 * The address that was probably meant by `Ada <ada@example.com>`, `mailto:ada@example.com`, `ada@example,com`,
 * `ada@@example.com` or `ada@example.com,`, with its domain corrected like that of any address; null if there is none.
 */
export function intendedAddress(text: string, lists: SuggestionLists, options: ParseOptions = {}): string | null {
  if (text.length > ADDRESS_LENGTH.max) return null;
  const bare = bareAddress(text);
  const corrected = didYouMeanText(bare, lists, options);
  if (corrected !== null || bare === text) return corrected;
  const parsed = parseAddress(bare, options);
  return parsed.ok ? parsed.address.normalized : null;
}

function bareAddress(text: string): string {
  let bare = withoutTail(text);
  if (bare.endsWith('>')) bare = withoutTail(bare.slice(bare.lastIndexOf('<') + 1, -1));
  if (/^mailto:/i.test(bare)) bare = withoutTail(bare.slice('mailto:'.length).split('?', 1)[0] ?? '');
  if (/^'.*'$/s.test(bare)) bare = bare.slice(1, -1);
  bare = bare.replaceAll(/@{2,}/g, '@');
  const at = bare.lastIndexOf('@') + 1;
  return bare.slice(0, at) + bare.slice(at).replaceAll(/[.,;/]+/g, '.');
}

/** Without the separators that follow an address in a list or a sentence. */
function withoutTail(text: string): string {
  const trimmed = trimBlanks(text);
  let end = trimmed.length;
  while (end > 0 && ',;.'.includes(trimmed.charAt(end - 1))) end -= 1;
  return end === trimmed.length ? trimmed : trimBlanks(trimmed.slice(0, end));
}
