import { t } from '@lingui/core/macro';
import { Menu } from '@mantine/core';
import { type KeyboardEvent, useRef } from 'react';
import css from './filter-chip.module.css';
import { Icon } from './icon.tsx';

interface FilterOption {
  readonly value: string;
  readonly label: string;
}

/** How many values of a filter its chip names. */
const NAMED = 2;

/** `Greylisted or SMTP timeout`, `Greylisted, SMTP timeout or 3 more` */
function namesText(names: readonly string[]): string {
  const [named, more] = [names.slice(0, NAMED), names.length - NAMED];
  return more > 0 ? t`${named.join(', ')} or ${more} more` : named.join(t` or `);
}

/** Letters typed within this time belong together, in milliseconds. */
const TYPED_TOGETHER_MS = 700;

/** In a menu, typed letters move the focus to the next item that begins with them (ARIA Authoring Practices, Menu). */
function useTypeAhead() {
  const typed = useRef({ text: '', at: 0 });
  return ({ key, currentTarget, timeStamp, ctrlKey, metaKey, altKey }: KeyboardEvent<HTMLElement>) => {
    if (key.length !== 1 || key === ' ' || ctrlKey || metaKey || altKey) return;
    const { text, at } = typed.current;
    const isOn = timeStamp - at < TYPED_TOGETHER_MS;
    const now = `${isOn ? text : ''}${key.toLowerCase()}`;
    typed.current = { text: now, at: timeStamp };
    const items = [...currentTarget.querySelectorAll<HTMLElement>('[role^=menuitem]')];
    const focused = items.findIndex((item) => item === document.activeElement);
    // A letter alone goes on from the focus; more of them keep to it while it fits.
    const from = Math.max(0, isOn ? focused : focused + 1);
    const order = [...items.slice(from), ...items.slice(0, from)];
    order.find(({ textContent }) => textContent.trim().toLowerCase().startsWith(now))?.focus();
  };
}

/**
 * A filter: dashed while it may be set, filled with its value once it is. `value`: null while it is not set; with
 * `several`, values with commas between them, any of which rows may have.
 */
export function FilterChip(props: {
  name: string;
  options: readonly FilterOption[];
  value: string | null;
  several?: boolean;
  onChange: (value: string | null) => void;
  /** Whether the value is what rows must not have; missing: they cannot be asked for so. */
  negated?: boolean;
  onNegate?: (negated: boolean) => void;
}) {
  const { name, options, value, several = false, onChange, negated = false, onNegate } = props;
  const values = value === null ? [] : several ? value.split(',') : [value];
  const nameOf = (one: string) => options.find((option) => option.value === one)?.label ?? one;
  const label = value === null ? null : namesText(values.map(nameOf));
  const toggle = (one: string) => {
    const chosen = values.includes(one) ? values.filter((other) => other !== one) : [...values, one];
    onChange(chosen.length === 0 ? null : chosen.join(','));
  };
  const typeAhead = useTypeAhead();
  return (
    <span className={css.chip} data-set={label !== null}>
      <Menu position="bottom-start" portalProps={{ target: '#content' }} closeOnItemClick={!several}>
        <Menu.Target>
          <button type="button">
            {label === null ? (
              <>
                <Icon name="plus" size={14} /> {name}
              </>
            ) : (
              <>
                {name} {negated ? t`is not` : t`is`} <b>{label}</b>
              </>
            )}
          </button>
        </Menu.Target>
        <Menu.Dropdown aria-label={name} mah={360} style={{ overflowY: 'auto' }} onKeyDown={typeAhead}>
          {label !== null && onNegate !== undefined && (
            <>
              <Menu.CheckboxItem checked={negated} onChange={onNegate}>{t`Is not`}</Menu.CheckboxItem>
              <Menu.Divider />
            </>
          )}
          {several ? (
            options.map((option) => (
              <Menu.CheckboxItem
                key={option.value}
                checked={values.includes(option.value)}
                onChange={() => toggle(option.value)}
                className="anywhere"
              >
                {option.label}
              </Menu.CheckboxItem>
            ))
          ) : (
            <Menu.RadioGroup value={value ?? ''} onChange={onChange}>
              {options.map((option) => (
                <Menu.RadioItem key={option.value} value={option.value} className="anywhere">
                  {option.label}
                </Menu.RadioItem>
              ))}
            </Menu.RadioGroup>
          )}
        </Menu.Dropdown>
      </Menu>
      {label !== null && (
        <button type="button" className={css.clear} aria-label={t`Clear ${name}`} onClick={() => onChange(null)}>
          <Icon name="x" size={14} />
        </button>
      )}
    </span>
  );
}
