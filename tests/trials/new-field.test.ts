import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Copy, copySources } from './copy.ts';

let copy: Copy;
beforeAll(() => {
  copy = copySources();
});
afterAll(() => copy.remove());

describe('a new field of the contract, in one place', () => {
  it('compiles, and every client follows by npm run gen', () => {
    copy.edit(
      'src/contract/verify.ts',
      '    canonical_email: Nullable(\n',
      "    mailbox_days: Type.Optional(Nullable(Type.Integer({ description: 'Age of the mailbox.' }))),\n    canonical_email: Nullable(\n",
    );
    copy.edit(
      'src/contract/verify.ts',
      '  validation_type: Defaulted(levelField(LEVEL_MEANING), DEFAULT_LEVEL),\n',
      "  validation_type: Defaulted(levelField(LEVEL_MEANING), DEFAULT_LEVEL),\n  referrer: Type.Optional(Type.String({ description: 'The page of the form.' })),\n",
    );
    expect(copy.compile()).toEqual([]);
    copy.generate();
    expect(copy.stale()).toEqual([]);
  });

  it('is a type of the client in TypeScript', () => {
    const program = `import type { Mailvet } from './types.ts';
export const days = async ({ verify }: Mailvet): Promise<number | null | undefined> =>
  (await verify({ email: 'a@example.com', referrer: '/join' })).mailbox_days;
`;
    copy.write('sdk/src/new-field.ts', program);
    expect(copy.compile('sdk')).toEqual([]);
    copy.write('sdk/src/new-field.ts', program.replace('mailbox_days', 'mailbox_weeks'));
    expect(copy.compile('sdk')).toEqual(['sdk/src/new-field.ts']);
  });

  it('is in the client for Python: read, documented and sent', () => {
    const models = copy.read('clients/python/src/mailvet/models.py');
    const [, verification = ''] = models.split('class Verification(Model):');
    expect(verification.split('\nclass ')[0]).toContain(
      'mailbox_days: int | None = None\n    """Age of the mailbox."""',
    );
    for (const file of ['_calls', '_async_calls']) {
      const calls = copy.read(`clients/python/src/mailvet/${file}.py`);
      expect(calls).toContain('referrer: str | None = None');
      expect(calls).toContain('"referrer": referrer');
    }
  });

  it('is in the client for PHP: read, documented and sent', () => {
    const model = copy.read('clients/php/src/Model/Verification.php');
    expect(model).toContain('Age of the mailbox.');
    expect(model).toContain('public ?int $mailboxDays;');
    expect(model).toContain("$this->mailboxDays = $reader->has('mailbox_days')");
    expect(copy.read('clients/php/src/Api/ClientApi.php')).toContain("'referrer' => $referrer");
  });

  it('is an option of the node for n8n', () => {
    expect(copy.read('clients/n8n/nodes/fields.ts')).toContain('"name": "referrer"');
  });
});
