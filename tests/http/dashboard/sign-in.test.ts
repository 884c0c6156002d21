import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browser, PASSWORD, person } from '../../lab/person.ts';
import { type Lab, startLab } from '../../lab/service.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab.close());

describe('signing in', () => {
  it('works: a session, and who it is', async () => {
    const { account } = await lab.member();
    const jane = await person(lab, { email: 'Jane@Example.com', name: 'Jane', account: account.id, role: 'admin' });
    const session = await jane.call('GET', '/dashboard/session');
    expect(session.status).toBe(200);
    expect(session.json).toEqual({
      user: { id: jane.id, email: 'jane@example.com', name: 'Jane', second_factor: false, operator: false },
      accounts: [{ id: account.id, name: account.name, role: 'admin', plan: 'premium', status: 'active' }],
      signup: false,
      mail: false,
      ip: '127.0.0.1',
    });
  });
});
