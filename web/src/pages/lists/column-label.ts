import { escapeInvisible } from '../../parts/verdict/escape-invisible.ts';

const SHOWN = 40;

/** `E-mail, column 4`. `index` from 0. */
export function columnLabel(name: string, index: number): string {
  const text = name.trim() === '' ? 'No name' : name.trim();
  return `${escapeInvisible(text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text)}, column ${index + 1}`;
}
