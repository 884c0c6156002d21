import { ApiError } from '../kernel/errors.ts';
import type { ViewPage } from '../kernel/facts/saved-views.ts';
import type { SavedView, SavedViews, ViewOwner } from '../store/store.ts';
import { parseViewName } from './names.ts';

/** Searches of a page that a member has named; nobody else sees them. All methods throw ApiError. */
export interface ViewService {
  /** By name. */
  list(owner: ViewOwner, page: ViewPage): Promise<SavedView[]>;
  /** Throws ApiError `view_exists`, `too_many_views`. */
  add(owner: ViewOwner, page: ViewPage, view: Omit<SavedView, 'id'>): Promise<SavedView>;
  /** Throws ApiError `not_found`, `view_exists`. */
  rename(owner: ViewOwner, id: string, name: string): Promise<SavedView>;
  /** Throws ApiError `not_found`. */
  remove(owner: ViewOwner, id: string): Promise<void>;
}

export function createViewService(views: SavedViews): ViewService {
  const notFound = () => new ApiError('not_found', 'There is no such view; it may have been deleted.');
  return {
    list: (owner, page) => views.list(owner, page),
    add: (owner, page, { name, search }) => views.add(owner, page, { name: parseViewName(name), search }),
    async rename(owner, id, name) {
      const view = await views.rename(owner, id, parseViewName(name));
      if (view === null) throw notFound();
      return view;
    },
    async remove(owner, id) {
      if (!(await views.remove(owner, id))) throw notFound();
    },
  };
}
