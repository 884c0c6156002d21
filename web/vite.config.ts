import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { texts } from './lingui.ts';

/** The service behind `npm run dev:web`. */
const SERVICE = 'http://127.0.0.1:8025';

const MANTINE_CLASS = /\bm_[0-9a-f]{6,8}\b/g;

/** Fails the build when a component of Mantine is used whose styles are not in mantine-styles.css. */
function completeStyles(): Plugin {
  const all = createRequire(import.meta.url).resolve('@mantine/core/styles.css');
  return {
    name: 'complete-styles',
    // The first views have the styles of the page.
    apply: (_config, { isSsrBuild }) => isSsrBuild !== true,
    generateBundle: {
      // After the styles are there.
      order: 'post',
      handler(_options, bundle) {
        const files = Object.values(bundle);
        const classesIn = (text: string): readonly string[] => text.match(MANTINE_CLASS) ?? [];
        const styled = new Set(
          files.flatMap((file) =>
            file.type === 'asset' && file.fileName.endsWith('.css') ? classesIn(`${file.source}`) : [],
          ),
        );
        const known = new Set(classesIn(readFileSync(all, 'utf8')));
        const used = new Set(files.flatMap((file) => (file.type === 'chunk' ? classesIn(file.code) : [])));
        const missing = [...used].filter((name) => known.has(name) && !styled.has(name));
        if (missing.length > 0)
          this.error(`web/src/mantine-styles.css lacks the styles of a component: those with .${missing.join(', .')}`);
      },
    },
  };
}

const NOT_STYLES = /^ *<(?:script type="module"|link rel="(?:module)?preload").*\n/gm;

/**
 * Scripts that all pages with a session load next. The service takes `data-signed-in` out of the others (pages.ts).
 */
const isFrame = (file: string): boolean => /\/(?:frame|parts)-[\w-]+\.js$/.test(file);
const preloadSignedIn = (file: string): string =>
  `    <link rel="modulepreload" crossorigin href="/${file}" data-signed-in>\n`;

/**
 * Fonts and scripts at the end: they would take most of a slow line from the styles, and then from the rest of the
 * page, which has its content in the HTML.
 */
function stylesFirst(): Plugin {
  return {
    name: 'styles-first',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle = {} }) {
        const last = [...(html.match(NOT_STYLES) ?? []), ...Object.keys(bundle).filter(isFrame).map(preloadSignedIn)];
        return html.replaceAll(NOT_STYLES, '').replace(/^ *<\/body>/m, (end) => last.join('') + end);
      },
    },
  };
}

export default defineConfig({
  root: import.meta.dirname,
  plugins: [texts(), react(), completeStyles(), stylesFirst()],
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    // The content security policy blocks inline assets.
    assetsInlineLimit: 0,
    // A first view has the styles of its page, and those of others are small.
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
    target: ['es2023', 'chrome120', 'firefox121', 'safari17.4'],
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            // One file for what every page needs, with the sign-in page; one for what most pages share; and one for the
            // frame of those with a session, with the overview: each file of its own would be a round trip more for
            // every six of them. The API reference has the little that it shares with the frame in the first.
            {
              name: 'base',
              test: /web[\\/]src[\\/](?:main|pages[\\/]sign-in|shell[\\/](?:color-scheme-toggle|use-focus-on-navigation)|parts[\\/]shortcuts)\.tsx?$|react-query[\\/].*[\\/]useQuery\.js$|[\\/](?:VisuallyHidden|Paper|create-safe-context|use-merged-ref|use-uncontrolled)[\\/]|hooks[\\/].*[\\/]use-callback-ref|[\\/]to-int\./,
              priority: 3,
            },
            // What floats (menus, dialogs) is in no first view: the button of the account loads its menu when it is
            // wanted. Checkboxes and radios share icons with menus, and would take these into the file of shared parts.
            {
              name: 'floating',
              test: /web[\\/]src[\\/]parts[\\/]confirm-dialog\.tsx$|node_modules[\\/](?:@floating-ui|react-remove-scroll|react-remove-scroll-bar|react-style-singleton|use-sidecar|use-callback-ref|@mantine[\\/].*[\\/](?:Popover|Menu|Checkbox|Radio|InlineInput|Modal|ModalBase|Floating|use-focus-trap|use-focus-return))[\\/]/,
              priority: 3,
            },
            {
              name: 'parts',
              test: /(?:node_modules[\\/]@mantine|web[\\/]src[\\/](?:parts|api)|src[\\/]kernel).*(?<!\.css)$/,
              minShareCount: 8,
              priority: 2,
            },
            { name: 'frame', test: /web[\\/]src[\\/](?:shell[\\/]shell|pages[\\/]overview)\.tsx$/, priority: 1 },
          ],
        },
      },
    },
  },
  server: {
    proxy: { '/dashboard': SERVICE, '/v1': SERVICE, '/guide': SERVICE, '/openapi.json': SERVICE },
  },
});
