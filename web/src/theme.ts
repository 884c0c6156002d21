import {
  type CSSVariablesResolver,
  createTheme,
  type MantineColorsTuple,
  type VariantColorsResolver,
} from '@mantine/core';

/** The accent of tokens.css, light to dark. Components use the tokens; Mantine derives its own variables from these. */
const accent: MantineColorsTuple = [
  '#e3f0ff',
  '#cfe4fc',
  '#a8cdf6',
  '#82b5ef',
  '#609fe6',
  '#4389d8',
  '#2a6fc0',
  '#1e5ca3',
  '#174b88',
  '#0f3a6d',
];

/** Ink of the outcomes that Mantine's color names stand for. */
const INKS: Readonly<Record<string, string>> = {
  red: 'var(--v-undeliverable-ink)',
  yellow: 'var(--v-risky-ink)',
  green: 'var(--v-deliverable-ink)',
  gray: 'var(--ink-2)',
};

/** `filled` is the one primary action of a view, in red the one that cannot be undone; `subtle` has no frame. */
const variantColors: VariantColorsResolver = ({ variant, color }) => {
  const ink = INKS[String(color)];
  if (variant === 'filled') {
    const fill = color === 'red' ? 'var(--cut)' : 'var(--solid)';
    const hover = color === 'red' ? 'var(--cut-hover)' : 'var(--solid-hover)';
    const text = color === 'red' ? '#fff' : 'var(--on-solid)';
    return { background: fill, hover, color: text, border: '1px solid transparent' };
  }
  if (variant === 'subtle')
    return { background: 'none', hover: 'var(--hover)', color: ink ?? 'var(--ink-2)', border: '1px solid transparent' };
  if (variant === 'light')
    return {
      background: 'var(--accent-soft)',
      hover: 'var(--accent-soft)',
      color: 'var(--ink)',
      border: '1px solid var(--accent-edge)',
    };
  return {
    background: 'var(--surface)',
    hover: 'var(--hover)',
    color: ink ?? 'var(--ink)',
    border: '1px solid var(--line-strong)',
  };
};

export const theme = createTheme({
  colors: { accent },
  variantColorResolver: variantColors,
  primaryColor: 'accent',
  primaryShade: 7,
  respectReducedMotion: true,
  defaultRadius: 5,
  cursorType: 'pointer',
  fontFamily: '"Hanken Grotesk", system-ui, sans-serif',
  fontFamilyMonospace: '"Geist Mono", ui-monospace, Menlo, Consolas, monospace',
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.8125rem', lg: '1rem', xl: '1.25rem' },
  lineHeights: { xs: '1rem', sm: '1.25rem', md: '1.25rem', lg: '1.5rem', xl: '1.75rem' },
  spacing: { xs: '8px', sm: '12px', md: '16px', lg: '20px', xl: '24px' },
  headings: {
    fontWeight: '620',
    sizes: {
      h1: { fontSize: '1.25rem', lineHeight: '1.75rem' },
      h2: { fontSize: '0.875rem', lineHeight: '1.25rem' },
      h3: { fontSize: '0.8125rem', lineHeight: '1.25rem' },
    },
  },
  components: {
    Button: { defaultProps: { variant: 'default' } },
    Modal: { defaultProps: { centered: true, radius: 8, closeButtonProps: { 'aria-label': 'Close' } } },
    // The page already has a banner landmark.
    ModalHeader: { defaultProps: { role: 'none' } },
    // Focus the first item, not a placeholder.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false, radius: 8 } },
    Popover: { defaultProps: { radius: 8 } },
    Paper: { defaultProps: { radius: 8 } },
    Badge: { defaultProps: { radius: 3, tt: 'none' } },
    Progress: { defaultProps: { radius: 3 } },
  },
});

/** One of Mantine's colors, as an outcome of tokens.css. */
const color = (name: string, token: string) => ({
  [`--mantine-color-${name}-filled`]: `var(--${token})`,
  [`--mantine-color-${name}-filled-hover`]: `var(--${token})`,
  [`--mantine-color-${name}-light`]: `var(--${token}-soft)`,
  [`--mantine-color-${name}-light-hover`]: `var(--${token}-soft)`,
  [`--mantine-color-${name}-light-color`]: `var(--${token}-ink)`,
  [`--mantine-color-${name}-outline`]: `var(--${token}-ink)`,
  [`--mantine-color-${name}-outline-hover`]: `var(--${token}-soft)`,
});

const TOKENS = {
  '--mantine-color-body': 'var(--surface)',
  '--mantine-color-text': 'var(--ink)',
  '--mantine-color-bright': 'var(--ink)',
  '--mantine-color-dimmed': 'var(--ink-3)',
  '--mantine-color-placeholder': 'var(--ink-3)',
  '--mantine-color-anchor': 'var(--accent)',
  '--mantine-color-error': 'var(--v-undeliverable-ink)',
  '--mantine-color-default': 'var(--surface)',
  '--mantine-color-default-hover': 'var(--hover)',
  '--mantine-color-default-color': 'var(--ink)',
  '--mantine-color-default-border': 'var(--line-control)',
  '--mantine-color-disabled': 'var(--sunken)',
  '--mantine-color-disabled-color': 'var(--ink-3)',
  '--mantine-color-disabled-border': 'var(--line)',
  '--mantine-color-accent-filled': 'var(--accent)',
  '--mantine-color-accent-filled-hover': 'var(--accent-strong)',
  '--mantine-color-accent-light': 'var(--accent-soft)',
  '--mantine-color-accent-light-hover': 'var(--accent-soft)',
  '--mantine-color-accent-light-color': 'var(--accent-strong)',
  '--mantine-color-accent-outline': 'var(--accent)',
  '--mantine-primary-color-contrast': 'var(--surface)',
  ...color('red', 'v-undeliverable'),
  ...color('yellow', 'v-risky'),
  ...color('green', 'v-deliverable'),
  ...color('gray', 'v-unknown'),
};

/** Mantine's own variables, from the tokens: the values of both color schemes are in tokens.css. */
export const tokenVariables: CSSVariablesResolver = () => ({ variables: {}, light: TOKENS, dark: TOKENS });
