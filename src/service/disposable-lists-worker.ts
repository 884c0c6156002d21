/** The code of the thread that updates the lists of disposable domains. */
import { systemClock } from '../kernel/clock.ts';
import { answerCalls } from '../kernel/thread.ts';
import { fetchLists, type ListsOptions } from './disposable-lists.ts';

answerCalls((options: ListsOptions) => fetchLists(options, systemClock));
