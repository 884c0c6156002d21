import { TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';
import { ariaKeys, useShortcut } from './shortcuts.ts';

/** A debounced search field. `value` is the current search, as in the URL. */
export function SearchBox(props: {
  label: string;
  /** The label is for screen readers only; the placeholder says the same. */
  hideLabel?: boolean;
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
  return (
    <TextInput
      ref={field}
      type="search"
      aria-keyshortcuts={ariaKeys('search')}
      {...(props.hideLabel ? { 'aria-label': props.label } : { label: props.label })}
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
