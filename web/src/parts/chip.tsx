import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import type { ReactNode } from 'react';
import css from './chip.module.css';
import { Icon } from './icon.tsx';

/** Dashed while it may be set, filled with its value once it is. `children`: its button, with what that opens. */
export function Chip(props: {
  name: string;
  isSet: boolean;
  /** Missing: it always has a value. */
  onClear?: (() => void) | undefined;
  children: ReactNode;
}) {
  const { name, isSet, onClear, children } = props;
  return (
    <span className={css.chip} data-set={isSet}>
      {children}
      {onClear && (
        <button type="button" className={css.clear} aria-label={t`Clear ${name}`} onClick={onClear}>
          <Icon name="x" size={14} />
        </button>
      )}
    </span>
  );
}

/** In the button of a chip. `value`: null while it is not set. */
export function ChipText({ name, value, negated = false }: { name: string; value: string | null; negated?: boolean }) {
  if (value === null)
    return (
      <>
        <Icon name="plus" size={14} /> {name}
      </>
    );
  return negated ? (
    <Trans>
      {name} is not <b>{value}</b>
    </Trans>
  ) : (
    <Trans>
      {name} is <b>{value}</b>
    </Trans>
  );
}
