import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Copy, copySources } from './copy.ts';

let copy: Copy;
beforeAll(() => {
  copy = copySources();
});
afterAll(() => copy.remove());

describe('a new reason of the mailbox check', () => {
  it('is a compile error in every place that has to know it', () => {
    copy.edit('src/kernel/facts/reasons.ts', "  'mailbox_disabled',\n", "  'mailbox_disabled',\n  'mailbox_moved',\n");
    copy.edit('src/engine/evidence.ts', "  | 'mailbox_disabled'\n", "  | 'mailbox_disabled'\n  | 'mailbox_moved'\n");
    expect(copy.compile()).toEqual([
      // What migration pages call it.
      'scripts/gen/migrate-pages.ts',
      // No finding leads to it yet.
      'scripts/gen/verdicts-page.ts',
      // Verdict, check, flags, 4xx, random recipient, rank.
      'src/engine/findings.ts',
      // What a bounce with it says of the address.
      'src/engine/smtp/bounce.ts',
      // The label of replies that it is measured by.
      'src/engine/smtp/classify/evaluation.ts',
      // The reply, and the local part, that lead to it in test mode.
      'src/engine/test-mode.ts',
      // The words of other services for it.
      'src/http/compat/kickbox.ts',
      'src/http/compat/neverbounce.ts',
      'src/http/compat/reacher.ts',
      'src/http/compat/zerobounce.ts',
      // What charts count it as; what the dashboard and the docs say.
      'src/kernel/facts/outcomes.ts',
      'src/kernel/facts/reasons.ts',
      // What a person who signs up is told.
      'src/service/sign-in/deliverability.ts',
      // The local part by which these words are tried.
      'tests/http/compat.test.ts',
    ]);
  });

  it('compiles once they are filled in', () => {
    copy.edit(
      'src/kernel/facts/reasons.ts',
      '  mailbox_disabled: {\n',
      `  mailbox_moved: {
    copy: { title: 'The mailbox has moved', meaning: 'The server names another address.', advice: 'Reject it.' },
    usualRetrySeconds: null,
  },
  mailbox_disabled: {\n`,
    );
    copy.edit(
      'src/kernel/facts/outcomes.ts',
      "  mailbox_disabled: 'undeliverable',\n",
      "  mailbox_disabled: 'undeliverable',\n  mailbox_moved: 'undeliverable',\n",
    );
    copy.edit(
      'src/kernel/facts/outcomes.ts',
      '  mailbox_disabled: true,\n',
      '  mailbox_disabled: true,\n  mailbox_moved: true,\n',
    );
    copy.edit(
      'src/engine/findings.ts',
      '} as const satisfies Record<SmtpFinding, SmtpRow>;',
      `  mailbox_moved: {
    verdict: verdict('bad', 'undeliverable', 'mailbox_moved', 'smtp'),
    check: 'fail',
    full: false,
    disabled: false,
    on4xx: 'smtp_temporary_failure',
    asProbe: 'pass',
    aboutMailbox: true,
    rank: 0,
    egress: 'accepts',
  },
} as const satisfies Record<SmtpFinding, SmtpRow>;`,
    );
    copy.edit(
      'src/engine/smtp/bounce.ts',
      "  mailbox_disabled: 'disabled',\n",
      "  mailbox_disabled: 'disabled',\n  mailbox_moved: 'disabled',\n",
    );
    copy.edit(
      'src/engine/smtp/classify/evaluation.ts',
      "  mailbox_disabled: 'mailbox_disabled',\n",
      "  mailbox_disabled: 'mailbox_disabled',\n  mailbox_moved: 'mailbox_not_found',\n",
    );
    copy.edit(
      'src/engine/test-mode.ts',
      "  mailbox_disabled: reply('rcpt', 550, '5.2.1', 'Mailbox disabled'),\n",
      "  mailbox_disabled: reply('rcpt', 550, '5.2.1', 'Mailbox disabled'),\n  mailbox_moved: reply('rcpt', 551, '5.1.6', 'Mailbox moved'),\n",
    );
    copy.edit(
      'src/engine/test-mode.ts',
      "  mailbox_disabled: { smtp: 'mailbox_disabled' },\n",
      "  mailbox_disabled: { smtp: 'mailbox_disabled' },\n  mailbox_moved: { smtp: 'mailbox_moved' },\n",
    );
    copy.edit(
      'src/service/sign-in/deliverability.ts',
      '  mailbox_disabled: null,\n',
      '  mailbox_disabled: null,\n  mailbox_moved: null,\n',
    );
    copy.edit(
      'scripts/gen/migrate-pages.ts',
      "  mailbox_disabled: '`mailbox_disabled`',\n",
      "  mailbox_disabled: '`mailbox_disabled`',\n  mailbox_moved: '`mailbox_moved`',\n",
    );
    copy.edit(
      'src/http/compat/kickbox.ts',
      "  mailbox_disabled: kickboxJudgment('undeliverable', 'rejected_email'),\n",
      "  mailbox_disabled: kickboxJudgment('undeliverable', 'rejected_email'),\n  mailbox_moved: kickboxJudgment('undeliverable', 'rejected_email'),\n",
    );
    copy.edit(
      'src/http/compat/neverbounce.ts',
      "  mailbox_disabled: 'invalid',\n",
      "  mailbox_disabled: 'invalid',\n  mailbox_moved: 'invalid',\n",
    );
    copy.edit(
      'src/http/compat/reacher.ts',
      "  mailbox_disabled: reacherJudgment('invalid', { ...ASKED, is_disabled: true }),\n",
      "  mailbox_disabled: reacherJudgment('invalid', { ...ASKED, is_disabled: true }),\n  mailbox_moved: reacherJudgment('invalid', ASKED),\n",
    );
    copy.edit(
      'src/http/compat/zerobounce.ts',
      "  mailbox_disabled: zeroBounceJudgment('invalid', 'mailbox_not_found'),\n",
      "  mailbox_disabled: zeroBounceJudgment('invalid', 'mailbox_not_found'),\n  mailbox_moved: zeroBounceJudgment('invalid', 'mailbox_not_found'),\n",
    );
    copy.edit(
      'tests/http/compat.test.ts',
      "  mailbox_disabled: 'mailbox_disabled',\n",
      "  mailbox_disabled: 'mailbox_disabled',\n  mailbox_moved: 'mailbox_moved',\n",
    );
    expect(copy.compile()).toEqual([]);
  });

  it('makes the generated files stale: documents, types of all clients, pages', () => {
    expect(copy.stale()).toEqual([
      'clients/n8n/nodes/fields.ts',
      'clients/php/src/Api/VerificationsApi.php',
      'clients/php/src/Enum/Reason.php',
      'clients/python/src/mailvet/_async_calls.py',
      'clients/python/src/mailvet/_calls.py',
      'clients/python/src/mailvet/models.py',
      'docs/api.md',
      ...['emailable', 'kickbox', 'neverbounce', 'reacher', 'zerobounce'].map((vendor) => `docs/migrate/${vendor}.md`),
      'docs/openapi.json',
      'docs/testing.md',
      'docs/verdicts.md',
      'sdk/src/schema.ts',
      'web/src/api/schema.ts',
      'web/src/locales/de.po',
      'web/src/locales/fr.po',
    ]);
    copy.generate();
    expect(copy.stale()).toEqual([]);
    expect(copy.compile('web')).toEqual(['web/src/parts/verdict/outcome.ts']);
    copy.edit(
      'web/src/parts/verdict/outcome.ts',
      "  mailbox_disabled: { found: t`Mailbox disabled`, part: 'local' },\n",
      "  mailbox_disabled: { found: t`Mailbox disabled`, part: 'local' },\n  mailbox_moved: { found: t`Mailbox moved`, part: 'local' },\n",
    );
    expect([...copy.compile('sdk'), ...copy.compile('web')]).toEqual([]);
    for (const path of ['docs/verdicts.md', 'docs/openapi.json', 'sdk/src/schema.ts', 'web/src/api/schema.ts'])
      expect(copy.read(path), path).toContain('mailbox_moved');
  });

  it('is classified, judged and reported right', () => {
    copy.edit(
      'src/engine/smtp/classify/rules.ts',
      "  'full.mailbox': rule(76,",
      "  'moved.mailbox': rule(77, 'recipient', 'mailbox_moved'),\n  'full.mailbox': rule(76,",
    );
    copy.edit(
      'data/smtp-codes.json',
      ' "operators": [\n',
      ` "operators": [
  {"id": "moved", "codes": [551], "phrase": "user has moved", "rule": "moved.mailbox", "sample": "551 User has moved", "source": "RFC 5321 §3.4"},
`,
    );
    const { ok, output } = copy.test('tests/trials/in-the-copy/mailbox-moved.copy.ts');
    expect(ok, output).toBe(true);
    expect(output).toMatch(/Tests\s+3 passed/);
  });
});
