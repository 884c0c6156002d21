import { buildOpenApi } from '../../src/http/openapi.ts';
import { apiPage, type OpenApiDocument } from './api-page.ts';

/** docs/openapi.json, the document that the running service gives out, and docs/api.md, the same for reading. */
export async function openApiFiles(): Promise<Record<string, string>> {
  const document = (await buildOpenApi()) as OpenApiDocument;
  return { 'docs/openapi.json': `${JSON.stringify(document, null, 2)}\n`, 'docs/api.md': apiPage(document) };
}
