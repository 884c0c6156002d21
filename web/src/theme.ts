import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core';

/** One accent, dark enough for white text in both color schemes (WCAG 2.2 §1.4.3). */
const accent: MantineColorsTuple = [
  '#e8f3fc',
  '#d3e4f5',
  '#a6c8ea',
  '#75aadf',
  '#4d91d6',
  '#2f7fcf',
  '#1c6fbf',
  '#1864ab',
  '#11568f',
  '#0a4674',
];

export const theme = createTheme({
  colors: { accent },
  primaryColor: 'accent',
  primaryShade: { light: 7, dark: 7 },
  autoContrast: true,
  respectReducedMotion: true,
  defaultRadius: 'sm',
  cursorType: 'pointer',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  headings: {
    fontWeight: '600',
    sizes: { h1: { fontSize: '1.5rem' }, h2: { fontSize: '1.15rem' }, h3: { fontSize: '1rem' } },
  },
  components: {
    Button: { defaultProps: { variant: 'default' } },
    Table: { defaultProps: { verticalSpacing: 'xs' } },
    Modal: { defaultProps: { centered: true, closeButtonProps: { 'aria-label': 'Close' } } },
    // The page already has a banner landmark.
    ModalHeader: { defaultProps: { role: 'none' } },
    // Focus the first item, not a placeholder.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
  },
});

/** Replaces Mantine's shades with a contrast below 4.5:1 on our backgrounds (WCAG 2.2 §1.4.3). */
export const accessibleColors: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#5c636a',
    '--mantine-color-placeholder': '#6b7279',
    '--mantine-color-error': 'var(--mantine-color-red-9)',
    '--mantine-color-red-filled': 'var(--mantine-color-red-9)',
    '--mantine-color-red-filled-hover': '#b02525',
    '--mantine-color-red-outline': 'var(--mantine-color-red-9)',
    '--mantine-color-yellow-outline': '#8a5300',
    '--mantine-color-green-outline': '#216e39',
  },
  dark: {
    '--mantine-color-anchor': 'var(--mantine-color-accent-3)',
    '--mantine-color-dimmed': '#a6a6a6',
    '--mantine-color-placeholder': '#9a9a9a',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
    '--mantine-color-red-filled': 'var(--mantine-color-red-9)',
    '--mantine-color-red-filled-hover': '#b02525',
    '--mantine-color-red-outline': 'var(--mantine-color-red-4)',
  },
});
