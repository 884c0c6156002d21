import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { Icon } from '../parts/icon.tsx';
import css from './shell.module.css';

export function ColorSchemeToggle() {
  const { setColorScheme } = useMantineColorScheme();
  const other = useComputedColorScheme('light') === 'dark' ? 'light' : 'dark';
  return (
    <button
      type="button"
      className={css.square}
      aria-label={`Switch to ${other} colors`}
      onClick={() => setColorScheme(other)}
    >
      <Icon name="moon" />
    </button>
  );
}
