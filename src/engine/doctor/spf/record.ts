/** Parses an SPF record into terms (RFC 7208 §4.6, §5, §12). */
import { parseIp } from '../../../kernel/ip.ts';
import { isMacroString } from './macro.ts';

export type SpfResult = 'pass' | 'fail' | 'softfail' | 'neutral' | 'none' | 'permerror' | 'temperror';
const MECHANISMS = ['all', 'include', 'a', 'mx', 'ptr', 'ip4', 'ip6', 'exists'] as const;
type Mechanism = (typeof MECHANISMS)[number];

export interface Directive {
  readonly mechanism: Mechanism;
  /** The result when it matches. */
  readonly result: SpfResult;
  /** Domain-spec with macros, or the network of `ip4` and `ip6`; empty if omitted. */
  readonly value: string;
  /** Prefix lengths; 32 and 128 by default. */
  readonly v4bits: number;
  readonly v6bits: number;
  /** As written, for the report. */
  readonly text: string;
}

interface SpfRecord {
  readonly directives: readonly Directive[];
  /** Domain-spec of `redirect=`. */
  readonly redirect: string | null;
}

const QUALIFIERS: Readonly<Record<string, SpfResult>> = { '+': 'pass', '-': 'fail', '~': 'softfail', '?': 'neutral' };
const TERM = /^([+\-~?]?)([a-z][a-z0-9]*)(?:([:/])(.*))?$/i;
const MODIFIER = /^([a-z][a-z0-9_.-]*)=(.*)$/i;
const MOST_TERMS = 200;

export const isSpf = (text: string): boolean => /^v=spf1(?: |$)/i.test(text);

/** The terms of a record; a string is the invalid term, a permerror also where an earlier one would match (§4.6). */
export function parseSpf(text: string): SpfRecord | string {
  const terms = text
    .slice('v=spf1'.length)
    .split(' ')
    .filter((term) => term !== '');
  if (terms.length > MOST_TERMS) return 'more terms than any record needs';
  const directives: Directive[] = [];
  let redirect: string | null = null;
  for (const term of terms) {
    const [, name, value = ''] = MODIFIER.exec(term) ?? [];
    if (name !== undefined) {
      if (name.toLowerCase() !== 'redirect') continue;
      if (redirect !== null || value === '' || !isMacroString(value)) return term;
      redirect = value;
      continue;
    }
    const directive = parseDirective(term);
    if (directive === null || !isMacroString(directive.value)) return term;
    directives.push(directive);
  }
  return { directives, redirect };
}

function parseDirective(text: string): Directive | null {
  const match = TERM.exec(text);
  const name = match?.[2]?.toLowerCase();
  const mechanism = MECHANISMS.find((known) => known === name);
  const result = QUALIFIERS[match?.[1] || '+'];
  if (match === null || mechanism === undefined || result === undefined) return null;
  const rest = match[3] === '/' ? `/${match[4]}` : (match[4] ?? '');
  if (match[3] === ':' && rest === '') return null;
  const made = { mechanism, result, text };
  switch (mechanism) {
    case 'all':
      return match[3] === undefined ? { ...made, value: '', v4bits: 32, v6bits: 128 } : null;
    case 'include':
    case 'exists':
      return match[3] === ':' ? { ...made, value: rest, v4bits: 32, v6bits: 128 } : null;
    case 'ptr':
      return match[3] === '/' ? null : { ...made, value: rest, v4bits: 32, v6bits: 128 };
    case 'ip4':
    case 'ip6': {
      const [value = '', bits, ...more] = rest.split('/');
      const most = mechanism === 'ip4' ? 32 : 128;
      const length = bitsOf(bits, most);
      if (match[3] !== ':' || more.length > 0 || length === null) return null;
      if (parseIp(value)?.length !== most / 16) return null;
      return { ...made, value, v4bits: length, v6bits: length };
    }
    case 'a':
    case 'mx': {
      const [, value = '', v4, v6] = /^(.*?)(?:\/(\d{1,3}))?(?:\/\/(\d{1,3}))?$/.exec(rest) ?? [];
      const [v4bits, v6bits] = [bitsOf(v4, 32), bitsOf(v6, 128)];
      return v4bits === null || v6bits === null || value.endsWith('/') ? null : { ...made, value, v4bits, v6bits };
    }
  }
}

function bitsOf(text: string | undefined, most: number): number | null {
  if (text === undefined) return most;
  return /^(0|[1-9]\d{0,2})$/.test(text) && Number(text) <= most ? Number(text) : null;
}
