/** What the published library begins with: its data is a module, so that bundlers take it along. */
import { embedData } from '../../src/engine/data-files.ts';
import files from './data.cjs';

embedData(files);

export * from '../../src/index.ts';
