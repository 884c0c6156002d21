import type { ViewPage } from '../../kernel/facts/saved-views.ts';
import type { AccountId } from './accounts.ts';

/** A search of a page that a member has named. */
export interface SavedView {
  readonly id: string;
  readonly name: string;
  /** The query string of the page. */
  readonly search: string;
}

/** Whose views: a member of the account, or of the account whose test account this is; both have the same. */
export interface ViewOwner {
  readonly account: AccountId;
  readonly user: string;
}

export interface SavedViews {
  /** By name. */
  list(owner: ViewOwner, page: ViewPage): Promise<SavedView[]>;
  /** Throws ApiError `view_exists`, `too_many_views`, `not_found` for who is no member any more. */
  add(owner: ViewOwner, page: ViewPage, view: Omit<SavedView, 'id'>): Promise<SavedView>;
  /** Null: there is none of this ID. Throws ApiError `view_exists`. */
  rename(owner: ViewOwner, id: string, name: string): Promise<SavedView | null>;
  /** False: there is none of this ID. */
  remove(owner: ViewOwner, id: string): Promise<boolean>;
}
