export interface SavedViewsTable {
  id: string;
  account_id: string;
  user_id: string;
  page: string;
  name: string;
  search: string;
}
