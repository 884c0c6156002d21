import { i18n } from '../i18n.ts';

/**
 * A text of the kernel's tables, or a word of the API such as `owner`, in the language of the page: those that
 * web/fact-texts.ts lists.
 */
export const factText = (text: string): string => (Object.hasOwn(i18n.messages, text) ? i18n._(text) : text);
