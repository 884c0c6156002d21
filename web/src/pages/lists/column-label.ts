import { t } from '@lingui/core/macro';
import { escapeInvisible } from '../../parts/verdict/escape-invisible.ts';

const SHOWN = 40;

/** `E-mail, column 4`. `index` from 0. */
export function columnLabel(name: string, index: number): string {
  const text = name.trim() === '' ? t`No name` : name.trim();
  return t`${escapeInvisible(text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text)}, column ${index + 1}`;
}
