/**
 * vitest globalSetup: one PostgreSQL server for the whole run, if the run uses PostgreSQL, and a migrated database that
 * freshDatabase copies.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/kernel/clock.ts';
import { openStore } from '../../src/store/open.ts';
import { type PostgresServer, postgresTemplate, startPostgres, whyNoPostgres } from './postgres.ts';

let server: PostgresServer | null = null;
let dropTemplate: () => Promise<void> = async () => undefined;

export async function setup(): Promise<void> {
  if (process.env.MAILVET_TEST_STORE !== 'postgres') {
    const folder = mkdtempSync(join(tmpdir(), 'mailvet-template-'));
    dropTemplate = async () => rmSync(folder, { recursive: true, force: true });
    const file = join(folder, 'mailvet.db');
    await migrate(`sqlite:${file}`);
    process.env.MAILVET_TEST_TEMPLATE = file;
    return;
  }
  if (whyNoPostgres() !== null) return;
  if (!process.env.MAILVET_TEST_POSTGRES_URL) {
    server = await startPostgres();
    process.env.MAILVET_TEST_POSTGRES_URL = server.url;
  }
  const template = await postgresTemplate(migrate);
  dropTemplate = template.drop;
  process.env.MAILVET_TEST_TEMPLATE = template.name;
}

async function migrate(url: string): Promise<void> {
  const store = await openStore({ url, clock: systemClock });
  await store.migrate();
  await store.close();
}

export async function teardown(): Promise<void> {
  await dropTemplate();
  await server?.stop();
}
