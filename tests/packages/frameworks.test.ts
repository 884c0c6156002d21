/** The adapters of the packed client inside the frameworks, as the samples of its README use them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as after } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../../scripts/fresh.mjs';
import { type Lab, type Member, startLab } from '../lab/service.ts';
import { emptyProject, NODES, run, tarball, tool } from './packed.ts';

const README = readFileSync(join(ROOT, 'sdk/README.md'), 'utf8');

/** The sample that imports an adapter. */
function sample(adapter: string): string {
  const all = [...README.matchAll(/^```(?:js|ts)\n([\s\S]*?)^```$/gm)].map(([, code]) => code ?? '');
  const found = all.filter((code) => code.includes(`'@mailvet/client/${adapter}'`));
  if (found.length !== 1 || found[0] === undefined) throw new Error(`${found.length} samples for ${adapter}`);
  return found[0];
}

const ENV = 'const { MAILVET_URL: url, MAILVET_KEY: key } = process.env;';
const SERVE = "import { serve } from '@hono/node-server';";
const served = (fetch: string) =>
  `serve({ fetch: ${fetch}, port: 0, hostname: '127.0.0.1' }, ({ port }) => console.log(port));`;

/** What surrounds the samples: a server on any port, which it prints. */
const SERVERS = {
  express: `import express from 'express';
    ${ENV}
    const app = express();
    app.set('trust proxy', true);
    ${sample('express')}
    const server = app.listen(0, '127.0.0.1', () => console.log(server.address().port));`,
  fastify: `import Fastify from 'fastify';
    ${ENV}
    const app = Fastify({ trustProxy: true });
    ${sample('fastify')}
    await app.listen({ port: 0, host: '127.0.0.1' });
    console.log(app.server.address().port);`,
  hono: `import { Hono } from 'hono';
    ${SERVE}
    ${ENV}
    const app = new Hono();
    ${sample('hono')}
    ${served('app.fetch')}`,
  next: `import { NextRequest } from 'next/server.js';
    ${SERVE}
    ${ENV}
    ${sample('next')}
    ${served(`async (request) => {
      const { method, headers } = request;
      const made = async () => new NextRequest(request.url, { method, headers, body: await request.arrayBuffer() });
      if (new URL(request.url).pathname === '/signup') return POST(await made(), { params: Promise.resolve({}) });
      return Response.json(await signUp(null, await request.formData()));
    }`)}`,
  nest: `import 'reflect-metadata';
    import { Body, Controller, Module, Post, UseGuards } from '@nestjs/common';
    import { NestFactory } from '@nestjs/core';
    import type { NestExpressApplication } from '@nestjs/platform-express';
    ${ENV}
    ${sample('nest')}
    @Module({ controllers: [Signup] })
    class App {}
    const app = await NestFactory.create<NestExpressApplication>(App, { logger: ['error'] });
    app.set('trust proxy', true);
    await app.listen(0, '127.0.0.1');
    console.log(new URL(await app.getUrl()).port);`,
} as const;

let lab: Lab;
let slow: Awaited<ReturnType<typeof slowAboutTypos>>;
let test: Member;
let project: string;
let env: Record<string, string>;
beforeAll(async () => {
  lab = await startLab();
  test = await lab.testMember(await lab.member({ plan: 'enterprise' }));
  await test.call('POST', '/v1/filters', { value: '203.0.113.7' });
  slow = await slowAboutTypos(lab.url);
  env = { MAILVET_URL: slow.url, MAILVET_KEY: test.key };
  project = emptyProject('frameworks');
  const installed = await run(project, 'npm', [
    'install',
    '--offline',
    '--legacy-peer-deps',
    tarball('@mailvet/client'),
  ]);
  expect(installed, installed.stderr).toMatchObject({ code: 0 });
});
afterAll(async () => {
  slow.close();
  await lab.close();
});

/** The service, but slow about typos, so that two equal forms are under way at once. */
async function slowAboutTypos(service: string) {
  const passOn = async (request: IncomingMessage, reply: ServerResponse): Promise<void> => {
    const sent = await text(request);
    if (sent.includes('typo@')) await after(1_000);
    const { method = 'GET', url = '/', headers } = request;
    const { authorization = '', 'content-type': type = '' } = headers;
    const body = method === 'GET' ? null : sent;
    const answer = await fetch(service + url, { method, headers: { authorization, 'content-type': type }, body });
    reply.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
    reply.end(await answer.text());
  };
  const server = createServer((request, reply) => void passOn(request, reply));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

const running: ChildProcess[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
});

/** Starts a program that prints its port; the URL of its server. */
async function start(file: string): Promise<string> {
  const child = spawn(NODES['20.19'], [file], { cwd: project, env: { ...process.env, ...env } });
  running.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  await expect.poll(() => /^\d+$/m.test(output) || child.exitCode !== null, { timeout: 60_000 }).toBe(true);
  const port = /^\d+$/m.exec(output)?.[0];
  if (port === undefined) throw new Error(output);
  return `http://127.0.0.1:${port}`;
}

const compile = (...files: string[]) =>
  run(project, tool('tsc'), [
    '--module',
    'nodenext',
    '--target',
    'es2022',
    '--strict',
    '--skipLibCheck',
    '--types',
    'node',
    '--experimentalDecorators',
    '--emitDecoratorMetadata',
    ...files,
  ]);

describe.each(['express', 'fastify', 'hono', 'next', 'nest'] as const)('in %s', (name) => {
  let url: string;
  const post = async (body: object, headers: Record<string, string> = {}) => {
    const sent = { 'content-type': 'application/json', ...headers };
    const reply = await fetch(`${url}/signup`, { method: 'POST', headers: sent, body: JSON.stringify(body) });
    return { status: reply.status, json: (await reply.json()) as Record<string, unknown> };
  };

  it('accepts and rejects', async () => {
    if (name === 'nest') {
      writeFileSync(join(project, 'nest.mts'), SERVERS.nest);
      const compiled = await compile('nest.mts');
      expect(compiled, compiled.stdout).toMatchObject({ code: 0 });
    } else writeFileSync(join(project, `${name}.mjs`), SERVERS[name]);
    url = await start(`${name}.mjs`);

    const good = await post({ email: 'ada@example.com' });
    expect([200, 201]).toContain(good.status);
    expect(good.json).toMatchObject({ welcome: 'ada@example.com' });
    // What the handler sees is what was judged.
    const typed = await post({ email: '\u200b\u202aada@ＥＸＡＭＰＬＥ．com\u202c\u00a0' });
    expect([typed.status < 300, typed.json['welcome']]).toEqual([true, 'ada@example.com']);
    const twice = await Promise.all([post({ email: 'typo@example.net' }), post({ email: 'typo@example.net' })]);
    expect(twice.map(({ json }) => json['code'])).toEqual(['did_you_mean', 'did_you_mean']);
    expect(await post({ email: 'undeliverable@example.com' })).toEqual({
      status: 422,
      json: {
        error: 'This email address cannot receive mail.',
        code: 'undeliverable',
        field: 'email',
        suggestion: null,
      },
    });
    const typo = await post({ email: 'typo@example.com' });
    expect(typo).toMatchObject({ status: 422, json: { code: 'did_you_mean', suggestion: 'typo@gmail.com' } });
    const confirmed = await post({ email: 'Typo@example.org', email_confirmed: true });
    expect(confirmed).toMatchObject({ status: 422, json: { code: 'undeliverable' } });
    for (const body of [{}, { email: '' }, { email: ['ada@example.com'] }, { email: 'x'.repeat(5000) }, []])
      expect(await post(body)).toMatchObject({ status: 422, json: { code: 'invalid_address' } });
    const blocked = await post({ email: 'ada@example.com' }, { 'x-forwarded-for': '203.0.113.7' });
    expect(blocked).toMatchObject({ status: 422, json: { code: 'blocked' } });

    // Out of credits, and no body at all.
    expect([200, 201]).toContain((await post({ email: 'insufficient_credits@example.com' })).status);
    expect((await fetch(`${url}/signup`, { method: 'POST' })).status).toBe(422);
    if (name !== 'next') return;
    const act = async (email: string) => {
      const form = new FormData();
      form.set('email', email);
      return (await fetch(`${url}/action`, { method: 'POST', body: form })).json();
    };
    expect(await act(' ada@ＥＸＡＭＰＬＥ.com')).toEqual({ welcome: 'ada@example.com' });
    expect(await act('undeliverable@example.com')).toMatchObject({ message: expect.stringContaining('cannot') });
  });
});

it('works in Better Auth, where an address is new', async () => {
  const source = `import { betterAuth as create } from 'better-auth';
    import { memoryAdapter } from 'better-auth/adapters/memory';
    ${SERVE}
    ${ENV}
    const database = memoryAdapter({ user: [], session: [], account: [], verification: [] });
    const betterAuth = (options) => create({ ...options, database, secret: 'x'.repeat(32), baseURL: 'http://127.0.0.1', telemetry: { enabled: false } });
    ${sample('better-auth')}
    ${served('auth.handler')}`;
  writeFileSync(join(project, 'better-auth.mjs'), source);
  const url = await start('better-auth.mjs');
  const signUp = async (email: unknown) => {
    const body = JSON.stringify({ email, name: 'Ada', password: 'correct horse battery' });
    const headers = { 'content-type': 'application/json', origin: 'http://127.0.0.1' };
    const reply = await fetch(`${url}/api/auth/sign-up/email`, { method: 'POST', headers, body });
    return { status: reply.status, json: await reply.json() };
  };
  expect(await signUp('ada@example.com')).toMatchObject({ status: 200, json: { user: { email: 'ada@example.com' } } });
  expect(await signUp('bob@ｅxample.com\u200b')).toMatchObject({
    status: 200,
    json: { user: { email: 'bob@example.com' } },
  });
  expect(await signUp('undeliverable@example.com')).toMatchObject({ status: 422, json: { code: 'undeliverable' } });
  const typo = await signUp('typo@example.com');
  expect(typo).toMatchObject({ status: 422, json: { code: 'did_you_mean', suggestion: 'typo@gmail.com' } });
});

it('works in Zod', async () => {
  const source = `import { z } from 'zod';
    ${ENV}
    ${sample('zod')}
    for (const email of ['\\u200bada@ＥＸＡＭＰＬＥ.com', 'undeliverable@example.com', 'no address']) {
      const { error, data } = await Signup.safeParseAsync({ email });
      const issues = error?.issues.map(({ path, code, params }) => [path, code, params?.code]);
      console.log(JSON.stringify(issues ?? data.email));
    }`;
  writeFileSync(join(project, 'zod.mjs'), source);
  const ran = await run(project, NODES['20.19'], ['zod.mjs'], { env });
  expect(ran, ran.stderr).toMatchObject({ code: 0 });
  expect(
    ran.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual(['ada@example.com', [[['email'], 'custom', 'undeliverable']], [[['email'], 'custom', 'invalid_address']]]);
});

it('has types that fit the frameworks', async () => {
  const source = `
    import { betterAuth } from 'better-auth';
    import express from 'express';
    import Fastify from 'fastify';
    import { Hono } from 'hono';
    import type { NextRequest } from 'next/server.js';
    import type { CanActivate } from '@nestjs/common';
    import { z } from 'zod';
    import { emailGuard as betterAuthGuard } from '@mailvet/client/better-auth';
    import { emailGuard as expressGuard } from '@mailvet/client/express';
    import { emailGuard as fastifyGuard } from '@mailvet/client/fastify';
    import { emailGuard as honoGuard } from '@mailvet/client/hono';
    import { emailGuard as nestGuard } from '@mailvet/client/nest';
    import { formDataGuard, guardRoute } from '@mailvet/client/next';
    import { emailTransform, emailGuard as zodGuard } from '@mailvet/client/zod';
    const options = { url: process.env['MAILVET_URL'], key: process.env['MAILVET_KEY'] };
    express().post('/', express.json(), expressGuard({ ...options, clientIp: (request) => request.ip }), (_, response) => {
      response.end();
    });
    Fastify().post('/', { preHandler: fastifyGuard({ ...options, clientIp: ({ headers }) => String(headers['x-real-ip']) }) }, async () => null);
    new Hono<{ Variables: { user: string } }>().post('/', honoGuard(options), (context) => context.text('x'));
    export const POST: (request: NextRequest, context: { params: Promise<{ id: string }> }) => Promise<Response> =
      guardRoute(options, async (request, { params }, { code }) => Response.json([request.nextUrl.href, await params, code]));
    export const action = (form: FormData) => formDataGuard(options)(form, { clientIp: null });
    export const nest: CanActivate = nestGuard(options);
    export const auth = betterAuth({ plugins: [betterAuthGuard({ ...options, paths: { '/sign-up/email': 'email' } })] });
    export const schema = z.object({ email: z.email().superRefine(zodGuard(options)) });
    const cleaned = z.object({ email: z.string().transform(emailTransform(options)) });
    export const email = async (): Promise<string> => (await cleaned.parseAsync({})).email;`;
  writeFileSync(join(project, 'types.mts'), source);
  const compiled = await compile('--noEmit', '--exactOptionalPropertyTypes', 'types.mts');
  expect(compiled, compiled.stdout).toMatchObject({ code: 0 });
});
