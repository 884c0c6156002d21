/** Searches of a page that the user has named. */
import Type from 'typebox';
import { VIEW_NAME_LENGTH, VIEW_SEARCH_LENGTH } from '../../kernel/facts/limits.ts';
import { VIEW_PAGES } from '../../kernel/facts/saved-views.ts';
import { choice } from '../../kernel/format.ts';
import { Text } from '../bounded.ts';
import { OneOf } from '../schema.ts';

const Page = OneOf(VIEW_PAGES, { 'x-error': `page must be ${choice(VIEW_PAGES)}.` });
const Name = Text('name', VIEW_NAME_LENGTH);

export const ViewsQuery = Type.Object({ page: Page });
export const ViewRequest = Type.Object({
  page: Page,
  name: Name,
  search: Text('search', VIEW_SEARCH_LENGTH, { description: 'Query string of the page.' }),
});
export const ViewRename = Type.Object({ name: Name });
export const ViewReply = Type.Object(
  { id: Type.String(), name: Type.String(), search: Type.String() },
  { title: 'SavedView' },
);
export const ViewsReply = Type.Object({ views: Type.Array(ViewReply) }, { title: 'SavedViews' });
