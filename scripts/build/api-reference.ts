import apiReference from '@scalar/fastify-api-reference';
import fastify from 'fastify';

/** The browser script of the API reference, which the plug-in only serves over HTTP. */
export async function apiReferenceScript(): Promise<string> {
  const app = fastify();
  await app.register(apiReference, { routePrefix: '/docs', configuration: { content: {} } });
  const reply = await app.inject('/docs/js/scalar.js');
  await app.close();
  if (reply.statusCode !== 200 || reply.body.length < 100_000)
    throw new Error(`the API reference gave no script: status ${reply.statusCode}, ${reply.body.length} characters`);
  return reply.body;
}
