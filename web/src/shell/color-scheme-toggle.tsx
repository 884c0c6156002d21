import { t } from '@lingui/core/macro';
import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { useMounted } from '@mantine/hooks';
import { Icon } from '../parts/icon.tsx';
import css from './shell.module.css';

export function ColorSchemeToggle() {
  const { setColorScheme } = useMantineColorScheme();
  const computed = useComputedColorScheme('light');
  // Those of the first view are not known to the service.
  const other = useMounted() && computed === 'dark' ? 'light' : 'dark';
  return (
    <button
      type="button"
      className={css.square}
      aria-label={other === 'dark' ? t`Switch to dark colors` : t`Switch to light colors`}
      onClick={() => setColorScheme(other)}
    >
      <Icon name="moon" />
    </button>
  );
}
