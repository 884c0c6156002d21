import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** The service behind `npm run dev:web`. */
const SERVICE = 'http://127.0.0.1:8025';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    // The content security policy blocks inline assets.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
    target: ['es2023', 'chrome120', 'firefox121', 'safari17.4'],
  },
  server: {
    proxy: { '/dashboard': SERVICE, '/v1': SERVICE, '/guide': SERVICE, '/openapi.json': SERVICE },
  },
});
