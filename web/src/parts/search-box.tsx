import { t } from '@lingui/core/macro';
import { TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';
import { Icon } from './icon.tsx';
import css from './search-box.module.css';
import { ariaKeys, keysText, useShortcut } from './shortcuts.ts';

/** A debounced search field, named for screen readers. `value` is the current search, as in the URL. */
export function SearchBox(props: {
  label: string;
  placeholder?: string;
  maxLength: number;
  value: string;
  onSearch: (v: string) => void;
}) {
  const { value, onSearch } = props;
  const [text, setText] = useState(value);
  const searched = useRef(value);
  useEffect(() => {
    if (value === searched.current) return;
    searched.current = value;
    setText(value);
  }, [value]);
  const search = useDebouncedCallback((typed: string) => {
    searched.current = typed.trim();
    onSearch(searched.current);
  }, 300);
  const field = useRef<HTMLInputElement>(null);
  useShortcut('search', () => field.current?.select());
  const clear = () => {
    setText('');
    search('');
    field.current?.focus();
  };
  return (
    <TextInput
      ref={field}
      type="search"
      aria-keyshortcuts={ariaKeys('search')}
      aria-label={props.label}
      className={css.field}
      leftSection={<Icon name="search" size={14} />}
      rightSection={
        text === '' ? (
          <kbd className={css.hint} aria-hidden>
            {keysText('search')}
          </kbd>
        ) : (
          <button type="button" className={css.clear} aria-label={t`Clear the search`} onClick={clear}>
            <Icon name="x" size={14} />
          </button>
        )
      }
      placeholder={props.placeholder}
      value={text}
      maxLength={props.maxLength}
      spellCheck={false}
      autoComplete="off"
      onChange={(event) => {
        setText(event.currentTarget.value);
        search(event.currentTarget.value);
      }}
    />
  );
}
