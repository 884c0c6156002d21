import { Trans } from '@lingui/react/macro';
import { isKeptHash } from '../../../../src/kernel/facts/kept-addresses.ts';
import { Glyph } from '../glyph.tsx';
import { escapeInvisible } from './escape-invisible.ts';
import { outcomeOf, phraseOf } from './outcome.ts';
import css from './verdict-line.module.css';

type Judged = Parameters<typeof outcomeOf>[0];

/** A verdict in a row: its shape, what was found, and paler what is open. */
export function VerdictLine({ of }: { of: Judged }) {
  const { found, open } = phraseOf(of);
  return (
    <span className={css.verdict}>
      <Glyph of={outcomeOf(of)} />
      <span>
        {found}
        {open !== undefined && <span className={css.open}> · {open}</span>}
      </span>
    </span>
  );
}

/** An address, character for character; the part on which the verdict rests is underlined in the verdict's color. */
export function Address({ email, of }: { email: string; of: Judged }) {
  // The hash tells one from another, and its beginning is enough for that.
  if (isKeptHash(email))
    return (
      <span className={css.address}>
        <Trans>Address not kept ({email.slice(0, 13)}…)</Trans>
      </span>
    );
  const { part } = phraseOf(of);
  const at = email.lastIndexOf('@');
  const cut = part === 'local' ? [0, at] : part === 'domain' ? [at + 1, email.length] : [0, email.length];
  const [from = 0, to = 0] = part === null || (at < 0 && part !== 'all') ? [0, 0] : cut;
  return (
    <span className={css.address} data-outcome={outcomeOf(of)}>
      {escapeInvisible(email.slice(0, from))}
      {to > from && <u>{escapeInvisible(email.slice(from, to))}</u>}
      {escapeInvisible(email.slice(to))}
    </span>
  );
}
