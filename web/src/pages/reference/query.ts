import { queryOptions } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import { ApiError, unreachable } from '../../api/client.ts';
import { type ApiDocument, readDocument } from './document.ts';

/** The document that the service serves to everybody. It changes with the version of the service only. */
export const documentQuery = queryOptions({
  queryKey: ['openapi'],
  queryFn: async ({ signal }): Promise<ApiDocument> => {
    const reply = await fetch('/openapi.json', { signal }).catch(() => {
      throw unreachable();
    });
    if (!reply.ok) throw new ApiError(reply.status, await reply.json().catch(() => null));
    return readDocument(await reply.json());
  },
  staleTime: Number.POSITIVE_INFINITY,
});

const Shown = createContext<ApiDocument | null>(null);
export const DocumentProvider = Shown.Provider;

/** The document, within the layout of the reference. */
export function useDocument(): ApiDocument {
  const document = useContext(Shown);
  if (document === null) throw new Error('There is no document outside of the reference.');
  return document;
}
