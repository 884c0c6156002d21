/** Fills a big store in a separate process. */
import { fillBigStore } from './big-store.ts';
import { answer } from './children.ts';

answer<string>((url) => fillBigStore(url));
