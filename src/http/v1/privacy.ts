import * as C from '../../contract/privacy.ts';
import { PacedBody } from '../paced-body.ts';
import { type ReplyBody, type Route, route, StoredJson } from '../route.ts';

/** What is held about a person. */
export const PRIVACY_ROUTES: readonly Route[] = [
  route({
    method: 'POST',
    path: '/v1/privacy/export',
    access: 'api-key:privacy',
    input: { body: C.PrivacyExportRequest },
    output: { content: C.PrivacyExport, description: 'Everything that the account holds about the address.' },
    doc: {
      operationId: 'exportPerson',
      tag: 'Privacy',
      summary: 'Export what is held about an address',
      description: 'The document is sent as it is made. One that breaks off is not valid JSON.',
    },
    serve:
      ({ privacy }) =>
      async ({ caller, ip }, { body: { email, canonical = false } }) =>
        new StoredJson<ReplyBody<typeof C.PrivacyExport>, PacedBody>(
          200,
          new PacedBody(await privacy.export(caller.accountId, { email, canonical }, { caller, ip })),
        ),
  }),
  route({
    method: 'POST',
    path: '/v1/privacy/erase',
    access: 'api-key:privacy',
    input: { body: C.PrivacyEraseRequest },
    output: { content: C.PrivacyErased, description: 'Erased.' },
    doc: {
      operationId: 'erasePerson',
      tag: 'Privacy',
      summary: 'Erase what is held about an address',
      description:
        'Counters and charges remain. A large log and large lists take a while, as all of them are searched.',
    },
    serve:
      ({ privacy }) =>
      async ({ caller, ip }, { body: { email, canonical = false, filters = false } }) => {
        const asked = { email, canonical, filters };
        const { total, erased, kept } = await privacy.erase(caller.accountId, asked, { caller, ip });
        return { body: { erased: total, tables: { ...erased }, kept: { ...kept } } };
      },
  }),
];
