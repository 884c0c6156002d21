import { fileURLToPath } from 'node:url';

const fromHere = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Where `npm run build` puts the dashboard, relative to the bundle and to the sources. */
export const WEB_FOLDERS = [fromHere('./web'), fromHere('../../dist/web')];

/** Where it puts the documentation. */
export const GUIDE_FOLDERS = [fromHere('./guide'), fromHere('../../dist/guide')];
