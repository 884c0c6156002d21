import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROLES } from '../../../src/contract/dashboard/words.ts';
import type { DashboardRow } from '../../../src/http/dashboard/row.ts';
import { DASHBOARD_ROWS } from '../../../src/http/dashboard/table.ts';
import { ERRORS } from '../../../src/kernel/errors.ts';
import { type Lab, type Member, type Reply, startLab } from '../../lab/service.ts';
import { type Client, nobody, signedIn } from './client.ts';
import { pathOf, sampleOf } from './sample.ts';

/** Every row as everybody: what is expected is made from the row's `who` alone, so that a new row is held to it. */
const WHO = ['nobody', 'key', 'stranger', 'member', 'admin', 'owner', 'operator'] as const;
type Asker = (typeof WHO)[number];
type Outcome = 'passes' | 'not_signed_in' | 'not_found' | 'role_not_sufficient';

function expected({ who }: DashboardRow, asker: Asker): Outcome {
  if (who === 'anybody') return 'passes';
  if (asker === 'nobody' || asker === 'key') return 'not_signed_in';
  if (who === 'signed-in') return 'passes';
  if (who === 'operator') return asker === 'operator' ? 'passes' : 'not_found';
  if (asker === 'stranger' || asker === 'operator') return 'not_found';
  return ROLES.indexOf(asker) >= ROLES.indexOf(who) ? 'passes' : 'role_not_sufficient';
}

/** What the guard said; whatever the row itself answers means that it was reached. */
function outcomeOf({ who }: DashboardRow, { status, json }: Reply): Outcome {
  if (status === 401 && json.code === 'not_signed_in') return 'not_signed_in';
  if (status === 403 && json.code === 'role_not_sufficient') return 'role_not_sufficient';
  // Rows say what it is that is not there; the guard says as little as of a path that is none.
  if (status === 404 && json.error === ERRORS.not_found.sentence && who !== 'anybody') return 'not_found';
  return 'passes';
}

let lab: Lab;
let member: Member;
const askers = new Map<Asker, Client['call']>();

async function signIn(asker: Asker): Promise<void> {
  const { account } = member;
  if (asker === 'nobody') askers.set(asker, nobody(lab));
  else if (asker === 'key') {
    askers.set(asker, (method, path, body) =>
      nobody(lab)(method, path, body, { authorization: `Bearer ${member.key}` }),
    );
  } else if (asker === 'operator') askers.set(asker, (await signedIn(lab, { operator: true })).call);
  else {
    const own = asker === 'stranger' ? { account: (await lab.member()).account } : { account, role: asker };
    askers.set(asker, (await signedIn(lab, own)).call);
  }
}

beforeAll(async () => {
  const nowhere = 'http://127.0.0.1:9/list';
  lab = await startLab({ MAILVET_LISTS_DISPOSABLE_URL: nowhere, MAILVET_LISTS_FAKEFILTER_URL: nowhere });
  member = await lab.member({ credits: 1000, rateLimit: 1000 });
  for (const asker of WHO) await signIn(asker);
}, 60_000);
afterAll(() => lab.close());

describe('the table of routes', () => {
  it('says who may by its paths too', () => {
    for (const { path, who } of DASHBOARD_ROWS) {
      const isRole = (ROLES as readonly string[]).includes(who);
      expect([path, path.startsWith('/dashboard/accounts/:account'), path.startsWith('/dashboard/operator/')]).toEqual([
        path,
        isRole,
        who === 'operator',
      ]);
    }
  });
});

const rows = DASHBOARD_ROWS.map((row) => [`${row.method} ${row.path}`, row] as const);

describe('who may', () => {
  it.each(rows)('%s', { timeout: 60_000 }, async (_name, row) => {
    const path = pathOf(row, { account: member.account.id });
    const body = row.doc.body ? sampleOf(row.doc.body) : undefined;
    const found: Record<string, Outcome> = {};
    for (const asker of WHO) {
      const reply = await askers.get(asker)!(row.method, path, body);
      expect(reply.status, `${asker}: ${reply.text}`).toBeLessThan(
        reply.json?.code === 'lists_not_updated' ? 504 : 500,
      );
      found[asker] = outcomeOf(row, reply);
      // Some rows end the session.
      if (reply.headers.getSetCookie().length > 0) await signIn(asker);
    }
    expect(found).toEqual(Object.fromEntries(WHO.map((asker) => [asker, expected(row, asker)])));
  });

  it('nothing of the account was changed by those who may not', async () => {
    const trail = await lab.store.trail.list(member.account.id, { before: null, limit: 1000 });
    const members = await lab.store.members.list(member.account.id);
    const known = new Set(members.map(({ email }) => email));
    for (const { actor, action } of trail) {
      if (actor.kind === 'command') continue;
      expect([action, actor.kind, known.has(actor.name)]).toEqual([action, 'user', true]);
    }
  });
});
