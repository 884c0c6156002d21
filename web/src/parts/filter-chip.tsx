import { t } from '@lingui/core/macro';
import { Menu } from '@mantine/core';
import { Chip, ChipText } from './chip.tsx';
import { useTypeAhead } from './use-type-ahead.ts';

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
    <Chip name={name} isSet={label !== null} onClear={label === null ? undefined : () => onChange(null)}>
      <Menu position="bottom-start" portalProps={{ target: '#content' }} closeOnItemClick={!several}>
        <Menu.Target>
          <button type="button">
            <ChipText name={name} value={label} negated={negated} />
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
    </Chip>
  );
}
