import * as C from '../../contract/dashboard/saved-views.ts';
import { Done } from '../../contract/dashboard/session.ts';
import { type Route, route } from '../route.ts';
import { done } from './browser-request.ts';

const VIEWS = '/dashboard/accounts/:account/views';

/** The user's own saved views. */
export const VIEW_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: VIEWS,
    access: 'member',
    cost: null,
    input: { query: C.ViewsQuery },
    output: { content: C.ViewsReply },
    doc: { operationId: 'savedViews', tag: 'Dashboard', summary: "The user's saved views of a page, by name" },
    serve:
      ({ views }) =>
      async ({ account, user }, { query: { page } }) => ({
        body: { views: await views.list({ account, user: user.id }, page) },
      }),
  }),
  route({
    method: 'POST',
    path: VIEWS,
    access: 'member',
    input: { body: C.ViewRequest },
    output: { status: 201, content: C.ViewReply },
    doc: {
      operationId: 'saveView',
      tag: 'Dashboard',
      summary: 'Save the search of a page under a name',
      errors: [422],
    },
    serve:
      ({ views }) =>
      async ({ account, user }, { body: { page, ...view } }) => ({
        body: await views.add({ account, user: user.id }, page, view),
      }),
  }),
  route({
    method: 'PATCH',
    path: `${VIEWS}/:id`,
    access: 'member',
    input: { body: C.ViewRename },
    output: { content: C.ViewReply },
    doc: { operationId: 'renameView', tag: 'Dashboard', summary: 'Rename a saved view', errors: [422] },
    serve:
      ({ views }) =>
      async ({ account, user }, { params: { id }, body: { name } }) => ({
        body: await views.rename({ account, user: user.id }, id, name),
      }),
  }),
  route({
    method: 'DELETE',
    path: `${VIEWS}/:id`,
    access: 'member',
    output: { content: Done },
    doc: { operationId: 'deleteView', tag: 'Dashboard', summary: 'Delete a saved view' },
    serve:
      ({ views }) =>
      async ({ account, user }, { params: { id } }) => {
        await views.remove({ account, user: user.id }, id);
        return done('The view was deleted.');
      },
  }),
];
