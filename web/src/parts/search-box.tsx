import { TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';

/** A search that follows the typing, a moment behind. `value` is what is searched now, such as the address of the page says. */
export function SearchBox(props: {
  label: string;
  placeholder?: string;
  value: string;
  onSearch: (v: string) => void;
}) {
  const { value, onSearch } = props;
  const [text, setText] = useState(value);
  const told = useRef(value);
  useEffect(() => {
    if (value === told.current) return;
    told.current = value;
    setText(value);
  }, [value]);
  const tell = useDebouncedCallback((typed: string) => {
    told.current = typed.trim();
    onSearch(told.current);
  }, 300);
  return (
    <TextInput
      type="search"
      label={props.label}
      placeholder={props.placeholder}
      value={text}
      maxLength={200}
      spellCheck={false}
      autoComplete="off"
      onChange={(event) => {
        setText(event.currentTarget.value);
        tell(event.currentTarget.value);
      }}
    />
  );
}
