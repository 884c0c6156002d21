import { publicDocument } from '../../src/http/openapi.ts';
import { V1_ROUTES } from '../../src/http/routes.ts';
import { readDocument } from '../../web/src/pages/reference/document.ts';
import { apiPage } from './api-page.ts';

/** The URL of a service with default options. */
export const DEFAULT_URL = 'http://127.0.0.1:8025';

/** docs/openapi.json, the document served at /openapi.json, and docs/api.md, the same as a page. */
export async function openApiFiles(): Promise<Record<string, string>> {
  const document = JSON.parse(JSON.stringify(publicDocument(V1_ROUTES, DEFAULT_URL)));
  const page = apiPage(readDocument(document));
  return { 'docs/openapi.json': `${JSON.stringify(document, null, 2)}\n`, 'docs/api.md': page };
}
