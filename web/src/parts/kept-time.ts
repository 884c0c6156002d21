import { useMatches } from '@tanstack/react-router';
import { createContext, useContext, useRef } from 'react';
import type { PagePath } from '../../../src/kernel/facts/pages.ts';
import { type TimeSearch, timeSearch } from './time.ts';

/** Pages that show a time; the others pass it on. */
const WITH_TIME: ReadonlySet<string> = new Set<PagePath>(['/', '/usage', '/log', '/settings/keys/$id']);

export const KeptTime = createContext<TimeSearch>({});

/** For the frame, which stays while pages change. */
export function useTimeToKeep(): TimeSearch {
  const kept = useRef<TimeSearch>({});
  const shown = useMatches({
    select: (matches) => {
      const { fullPath = '', search = {} } = matches.at(-1) ?? {};
      return WITH_TIME.has(fullPath) ? timeSearch(search) : null;
    },
    structuralSharing: true,
  });
  if (shown !== null) kept.current = shown;
  return kept.current;
}

/** The time that was chosen last, for links to pages with a time; search parameters of the page `to`. */
export function useKeptTime(): (to: string) => TimeSearch {
  const time = useContext(KeptTime);
  return (to) => (WITH_TIME.has(to) ? time : {});
}
