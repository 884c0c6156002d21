import type { FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '../../kernel/errors.ts';
import { randomBytes } from '../../kernel/ids.ts';
import type { HttpContext } from '../context.ts';
import { sendError } from '../reply.ts';
import type { RouteRow } from '../routes.ts';

/** The page finds out by itself which of its views a path is. */
const PATHS = [
  '/sign-in',
  '/sign-up',
  '/setup',
  '/reset-password',
  '/verify-email',
  '/invitation',
  '/verify',
  '/usage',
  '/log',
  '/log/:id',
  '/filters',
  '/settings/keys',
  '/account',
  '/account/ledger',
  '/account/members',
  '/account/trail',
  '/security',
  '/operator',
  '/operator/accounts/:id',
  '/operator/doctor',
  '/operator/lists',
] as const;

/** The dashboard as the browser loads it: one page at many paths, and its files. */
export const PAGE_ROUTES: readonly RouteRow[] = [
  { method: 'GET', path: '/', guard: 'page', handler: (context) => page(context, toReference) },
  ...PATHS.map((path) => ({
    method: 'GET' as const,
    path,
    guard: 'page' as const,
    handler: (context: HttpContext) => page(context, notBuilt),
  })),
  { method: 'GET', path: '/assets/:name', guard: 'page', handler: asset },
];

type Send = (request: FastifyRequest, reply: FastifyReply) => FastifyReply;
const toReference: Send = (_request, reply) => reply.type('text/plain; charset=utf-8').redirect('/docs', 302);
const notBuilt: Send = (request, reply) =>
  sendError(request, reply, new Refusal('not_found', 'The dashboard is not built; run "npm run build".'));

/** Scripts are our own files and nothing else; styles may also stand in the page, under the nonce of this reply. */
const policy = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');

/** What the page uses of the browser's powers: passkeys, and the clipboard for a key that was just made. */
const PERMISSIONS =
  'publickey-credentials-get=(self), publickey-credentials-create=(self), clipboard-write=(self), ' +
  'camera=(), microphone=(), geolocation=(), payment=(), usb=(), serial=(), hid=(), midi=(), display-capture=()';

const page = (context: HttpContext, otherwise: Send) => async (request: FastifyRequest, reply: FastifyReply) => {
  const html = await context.webFiles.index();
  if (html === null) return otherwise(request, reply);
  const nonce = randomBytes(16).toString('base64');
  return reply
    .type('text/html; charset=utf-8')
    .headers({
      'content-security-policy': policy(nonce),
      'cross-origin-opener-policy': 'same-origin',
      'permissions-policy': PERMISSIONS,
      'cache-control': 'no-store',
    })
    .send(html.replaceAll('__CSP_NONCE__', nonce));
};

function asset(context: HttpContext) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { name } = request.params as { name: string };
    const file = await context.webFiles.asset(name, accepts(request.headers['accept-encoding']));
    if (file === null) return sendError(request, reply, new Refusal('not_found'));
    reply.type(file.type).headers({
      // What has its hash in its name is asked for once; of anything else the browser asks whether it changed.
      'cache-control': file.hashed ? 'public, max-age=31536000, immutable' : 'public, no-cache',
      'cross-origin-resource-policy': 'same-origin',
      etag: file.etag,
      vary: 'accept-encoding',
      ...(file.coding === null ? {} : { 'content-encoding': file.coding }),
    });
    if (request.headers['if-none-match'] === file.etag) return reply.code(304).send();
    return reply.send(file.bytes);
  };
}

/** Whether a coding is acceptable (RFC 9110 §12.5.3): named, and not with a weight of 0. */
function accepts(header: string | string[] | undefined): (coding: string) => boolean {
  const offers = [header ?? ''].flat().join(',').toLowerCase().split(',').slice(0, 20);
  const named = offers.filter((offer) => !/;\s*q=0(\.0*)?\s*$/.test(offer)).map((offer) => offer.split(';')[0]!.trim());
  return (coding) => named.includes(coding);
}
