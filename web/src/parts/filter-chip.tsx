import { Menu } from '@mantine/core';
import css from './filter-chip.module.css';
import { Icon } from './icon.tsx';

/** A filter: dashed while it may be set, filled with its value once it is. `value`: null while it is not set. */
export function FilterChip(props: {
  name: string;
  options: readonly { value: string; label: string }[];
  value: string | null;
  onChange: (value: string | null) => void;
  /** Whether the value is what rows must not have; missing: they cannot be asked for so. */
  negated?: boolean;
  onNegate?: (negated: boolean) => void;
}) {
  const { name, options, value, onChange, negated = false, onNegate } = props;
  const label = value === null ? null : (options.find((option) => option.value === value)?.label ?? value);
  return (
    <span className={css.chip} data-set={label !== null}>
      <Menu position="bottom-start" portalProps={{ target: '#content' }}>
        <Menu.Target>
          <button type="button">
            {label === null ? (
              <>
                <Icon name="plus" size={14} /> {name}
              </>
            ) : (
              <>
                {name} {negated ? 'is not' : 'is'} <b>{label}</b>
              </>
            )}
          </button>
        </Menu.Target>
        <Menu.Dropdown aria-label={name} mah={360} style={{ overflowY: 'auto' }}>
          {label !== null && onNegate !== undefined && (
            <>
              <Menu.CheckboxItem checked={negated} onChange={onNegate}>
                Is not
              </Menu.CheckboxItem>
              <Menu.Divider />
            </>
          )}
          <Menu.RadioGroup value={value ?? ''} onChange={onChange}>
            {options.map((option) => (
              <Menu.RadioItem key={option.value} value={option.value} className="anywhere">
                {option.label}
              </Menu.RadioItem>
            ))}
          </Menu.RadioGroup>
        </Menu.Dropdown>
      </Menu>
      {label !== null && (
        <button type="button" className={css.clear} aria-label={`Clear ${name}`} onClick={() => onChange(null)}>
          <Icon name="x" size={14} />
        </button>
      )}
    </span>
  );
}
