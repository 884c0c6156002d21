import { timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '../../kernel/errors.ts';
import type { HttpContext } from '../context.ts';
import { sendError } from '../reply.ts';

/** `/healthz`: the process lives; says nothing of what is behind it. */
export const healthz = () => async (_request: FastifyRequest, reply: FastifyReply) => reply.send('{"status":"ok"}');

/** `/readyz`: store and resolver answer, and the process is not draining; 503 with the reasons otherwise. */
export const readyz = (context: HttpContext) => async (_request: FastifyRequest, reply: FastifyReply) => {
  const [store, resolver] = await Promise.all([context.health.store(), context.health.resolver()]);
  const draining = context.draining();
  const ready = store === null && resolver === null && !draining;
  const say = (problem: string | null) =>
    problem === null ? { status: 'ok' } : { status: 'failing', reason: problem };
  const body = {
    status: ready ? 'ready' : draining ? 'draining' : 'not_ready',
    checks: { store: say(store), resolver: say(resolver) },
    details: context.health.details(),
  };
  return reply.code(ready ? 200 : 503).send(JSON.stringify(body));
};

/** `/metrics`: there only when it was switched on, and with a token only for who has it. */
export const metrics = (context: HttpContext) => async (request: FastifyRequest, reply: FastifyReply) => {
  if (context.metrics === null) return sendError(request, reply, new Refusal('not_found'));
  const { token } = context.metrics;
  if (token !== null && !sameText(request.headers.authorization ?? '', `Bearer ${token}`)) {
    return sendError(request, reply, new Refusal('invalid_api_key', 'The metrics token is missing or wrong.'));
  }
  return reply.type('text/plain; version=0.0.4; charset=utf-8').send(await context.metrics.text());
};

/** Compares in a time that tells nothing of where two texts differ. */
function sameText(a: string, b: string): boolean {
  const [x, y] = [Buffer.from(a), Buffer.from(b)];
  return x.length === y.length && timingSafeEqual(x, y);
}

export const openApi = () => async (request: FastifyRequest, reply: FastifyReply) =>
  reply.header('access-control-allow-origin', '*').send(JSON.stringify(request.server.swagger()));

const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Mailvet API</title>
</head>
<body>
<noscript>The API is described by <a href="/openapi.json">/openapi.json</a>.</noscript>
<script id="api-reference" data-url="/openapi.json" data-configuration='{"withDefaultFonts":false,"hideClientButton":true,"telemetry":false,"agent":{"disabled":true},"mcp":{"disabled":true}}'></script>
<script src="/docs/reference.js"></script>
</body>
</html>
`;

export const reference = () => async (_request: FastifyRequest, reply: FastifyReply) =>
  reply.type('text/html; charset=utf-8').header('content-security-policy', PAGE_POLICY).send(PAGE);

export const referenceScript = (context: HttpContext) => async (request: FastifyRequest, reply: FastifyReply) => {
  const script = await context.docsScript();
  if (script === null) {
    return sendError(request, reply, new Refusal('not_found', 'The reference is not built; run "npm run build".'));
  }
  return reply.type('text/javascript; charset=utf-8').header('cache-control', 'public, max-age=3600').send(script);
};
