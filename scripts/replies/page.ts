import { SUBJECTS } from '../../src/engine/smtp/classify/clauses.ts';
import { loadCodes } from '../../src/engine/smtp/classify/codes.ts';
import { agrees, isReadAsBad } from '../../src/engine/smtp/classify/evaluation.ts';
import { lexiconEntries, loadLexicon } from '../../src/engine/smtp/classify/lexicon.ts';
import { THRESHOLDS } from '../../src/engine/smtp/classify/model.ts';
import { DECISIONS, RULES } from '../../src/engine/smtp/classify/rules.ts';
import type { Held, Trained } from './folds.ts';
import { OBSERVED } from './rows.ts';
import { familyOf, grouped, isFalselyDead, isGone, lines, percent } from './tables.ts';

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');

const rules = (): string =>
  [
    '| rule | meaning | finding of a 5xx | rank | weak |',
    '|---|---|---|--:|---|',
    ...Object.entries(RULES)
      .sort(([, a], [, b]) => b.rank - a.rank)
      .map(
        ([id, rule]) =>
          `| \`${id}\` | ${rule.meaning} | \`${rule.finding}\` | ${rule.rank} | ${'weak' in rule ? 'yes' : ''} |`,
      ),
  ].join('\n');

const decisions = (): string =>
  [
    `| | ${SUBJECTS.join(' | ')} |`,
    `|---|${SUBJECTS.map(() => '---|').join('')}`,
    ...Object.entries(DECISIONS).map(
      ([predicate, row]) => `| **${predicate}** | ${SUBJECTS.map((subject) => row[subject] ?? '').join(' | ')} |`,
    ),
  ].join('\n');

const operatorForms = (): string =>
  [
    '| row | rule | sample | source |',
    '|---|---|---|---|',
    ...loadCodes().operators.map(
      ({ id, rule, sample, source }) => `| \`${id}\` | \`${rule}\` | ${cell(sample.slice(0, 90))} | ${cell(source)} |`,
    ),
  ].join('\n');

function languages(): string {
  const counts = new Map<string, number>();
  for (const { language } of lexiconEntries(loadLexicon())) {
    if (language !== '') counts.set(language, (counts.get(language) ?? 0) + 1);
  }
  return [...counts].map(([language, count]) => `${language} ${count}`).join(', ');
}

const observed = (of: readonly Held[]): Held[] => of.filter(({ row }) => OBSERVED.has(row.set));

/** What other thresholds would give, of the same replies. */
function trade({ trade: tried }: Trained): string {
  const rows = tried.map(({ dead, held, nonsense }) => {
    const of = observed(held);
    const gone = of.filter(isGone);
    const share = percent(gone.filter(({ reading }) => isReadAsBad(reading)).length, gone.length);
    const guessed = nonsense.filter(({ reading }) => isReadAsBad(reading)).length;
    return `| ${dead} | ${of.filter(isFalselyDead).length} | ${share} | ${percent(of.filter(agrees).length, of.length)} | ${guessed} |`;
  });
  return `| threshold | falsely dead | found | right or acceptable | nonsense called dead |\n|--:|--:|--:|--:|--:|\n${rows.join('\n')}`;
}

const curveOf = ({ curve }: Trained): string =>
  lines(
    'trained with',
    curve.map(({ share, replies, held }) => [`${share * 100} % of the sources, ${replies} replies`, held] as const),
  );

function summary(trained: Trained): string {
  const { held, byRules, heldBack, nonsense } = trained;
  const guessed = nonsense.filter(({ reading }) => isReadAsBad(reading)).length;
  return `${lines('', [
    ['**rules and model**, observed replies', observed(held)],
    ['the same, all replies', held],
    ['rules alone, observed replies', observed(byRules)],
    ['**sources held back**', heldBack],
    ['the same, rules alone', trained.heldBackByRules],
  ])}\n\nMade-up words: ${guessed} of ${nonsense.length} called dead.`;
}

/** What the command prints. */
export const figures = (trained: Trained): string =>
  [
    summary(trained),
    grouped('set', trained.held, ({ row }) => row.set),
    grouped('label', observed(trained.held), ({ reply }) => reply.label),
    grouped('language', observed(trained.held), ({ language }) => language),
    grouped('server family', observed(trained.held), ({ row }) => familyOf(row)),
    grouped('held back: language', trained.heldBack, ({ language }) => language),
    curveOf(trained),
    trade(trained),
  ].join('\n\n');

/** docs/classification.md */
export function page(trained: Trained, sources: string): string {
  const all = observed(trained.held);
  const { dead, wordless, sure, doubt } = THRESHOLDS;
  return `# How SMTP replies are read

Made by \`npm run replies -- --write\` from the sources \`${sources}\`; do not edit. The text is in
\`scripts/replies/page.ts\`.

A mail server that is asked about an address (RCPT) and refuses it answers with a code and a line of free text, in any
language. Mailvet has to tell two kinds apart: the mailbox cannot be reached, or the server does not want to talk to *you*
(your IP address, sender or pace), wants you to wait, or is in trouble. An error of one kind calls a living person's
address dead. An error of the other kind leaves a dead address *unverifiable*. The first is worse, so when in doubt an
address is not called dead.

These figures are from ${all.length} observed replies. Each was read by a classifier that had not seen its source:

${summary(trained)}

- **Falsely dead**: replies about the client, the server or time that were read as a dead mailbox.
- **Found**: replies that say, for good, that there is no such mailbox, and that were read as a dead mailbox of any kind.
- **Right or acceptable**: the exact label, or another one that a fair judge would accept.
- **Sources held back**: replies that took no part in training. They are the best guess at what you will see.

To see how one reply is read, and why: \`mailvet reply "550 5.7.1 …"\`.

## One reply's way

1. **Code and stage.** A 2xx accepts. A 4xx never makes an address bad: "full" becomes "full for now", and the rest is a
   temporary failure or greylisting. A reply before RCPT is about the client, since no mailbox has been named yet. If the
   lines of a reply contradict each other, it decides nothing.
2. **Echoes.** What the server repeats is taken out: the address, our names and IP addresses, URLs, host names and ids.
   Words in an address therefore never count. Text after the first 2,000 characters is ignored.
3. **Operators' own codes.** Some large operators document codes whose words mislead. These are rows of data with a
   source ([data/smtp-codes.json](../data/smtp-codes.json)), and they decide before anything else.
4. **Rules.** Words are looked up in a lexicon ([data/smtp-lexicon.json](../data/smtp-lexicon.json)): who is spoken of
   (recipient, sender, client, group …) and what is said (absent, disabled, full, refuses …). The two are joined into
   clauses. "The sender's address was not found" is about the sender; "if the user does not exist" says nothing.
   [A table](#the-decision-table) maps each clause to a rule, and the rule with the highest rank decides.
5. **Enhanced codes** (RFC 3463) are weak evidence. X.1.1 makes an address bad only if the words fit it. X.1.0 never does,
   nor does any code in a 500 to 503, which are about the command.
6. **The model** checks the rules. It sees codes, words, pieces of words and what the rules made of them, and returns the
   probability that the mailbox cannot be reached ([what it may decide](#what-the-model-may-decide)).
7. **The rest** is *unverifiable*, which is never bad.

The evidence of a verification has \`decided_by\` (\`operator\`, \`rule\` or \`model\`) and \`probability\` (what the model thought,
if it was asked).

## What the model may decide

The model ([data/smtp-model.tsv](../data/smtp-model.tsv)) is a linear one, trained on the labelled replies of
[data/sources](../data/sources). It is asked about a 5xx to RCPT from 504 on, unless an operator's row decided or a rule
is sure that the reply is about the client. Its probabilities are calibrated on sources that it had not seen.

| the rules say | the model may | from |
|---|---|--:|
| the mailbox is dead | deny that, and name another reason | below ${doubt} |
| nothing, or something weak; a word denies or refuses something | call the mailbox dead | ${dead} |
| nothing, or something weak; no known word denies or refuses anything, or one says that something is closed, but not what | call the mailbox dead | ${wordless} |
| a refusal, a limit or trouble, but not of whom; or the reply names an IP address | call the mailbox dead | ${sure} |
| the client is refused, for sure | nothing | |

The second step of caution, for replies without a known word, keeps it from guessing: most refusals at RCPT are about the
mailbox, so a model that has learned only that calls any text dead. Made-up words measure this.

Whatever its probability, it never calls a mailbox dead if the reply

- names the sender, "you", a group, or something that is counted, such as connections per hour;
- denies only one kind of user ("not a registered gateway user");
- says that something else than a mailbox is closed or full;
- has a code for the form or the order of commands (X.5.1, X.5.2, X.5.4).

## What is decided how

| reply | read as | because |
|---|---|---|
| this address no longer accepts mail; mailbox cannot receive messages | disabled | it holds for everybody, and names no sender, message or time |
| the recipient does not accept this message; …mail from strangers; members only | refused by the recipient's side | it names a message, a sender or an exception |
| closed mailing list, closed group; you are not subscribed | refused by the recipient's side | it still exists |
| valid sender domain required, in whatever language | about the client | a demand on the sender |
| 550 5.1.0, and nothing more | unverifiable | X.1.0 says nothing of whom |
| unknown or full | not found | |
| 450 user unknown; 451 domain not found | temporary failure | a 4xx is never dead, whatever it says |
| not a registered gateway user | unverifiable | it may be missing only among users of that kind |
| 554 at the greeting: service not available | about the client | a server in trouble would say 421 |
| 451 server too busy, try again later | temporary failure | who asks to wait for a server does not greylist |
| relaying denied | the domain is not served there | unless it names our address or asks for a log-in, which is about the client |
| 450 connect to 10.0.0.5: Connection refused | temporary failure | it was the server that was refused |
| mailbox unavailable, in a 5xx without another reason | not found | RFC 5321 §4.2.3 defines 550 that way |

## What it cannot know

- Servers that lie: some say "user unknown" to clients that they do not like, some accept everything. A reply is taken at
  its word.
- "Rejected" or "access denied" and nothing more. Such replies are about a mailbox more often than not, but nothing in them
  says so.
- Languages in which the project has few replies (below). There, the rules rest on dictionaries, and the model knows only
  what the rules tell it. A language without a dictionary is *unverifiable* unless the server adds English words.
- Replies of a kind that nobody has labelled yet. The sources held back show how much worse new sources fare than the
  ones that the project knows.

## Figures

Each reply is read by a model that was trained without its source and without replies of the same wording. If the lexicon
was made with the reply, it is read without the words that only replies of similar wording need. Falsely dead does not
count replies that a fair judge may take for a dead mailbox (\`also_ok\`). Some replies of the sources held back were read by
people while the rules were made, so new sources may fare worse.

${grouped('set', trained.held, ({ row }) => row.set)}

${grouped('label', all, ({ reply }) => reply.label)}

${grouped('language', all, ({ language }) => language)}

${grouped('server family', all, ({ row }) => familyOf(row))}

Of the sources held back:

${grouped('language', trained.heldBack, ({ language }) => language)}

### The trade

What other first thresholds would give, on the same replies and on made-up words ("550 account quux garply", "recipient
address rejected: quux"):

${trade(trained)}

### Would more replies help?

The same test, after training with a part of the sources. If the last rows hardly differ, more replies of the same
kind would change little; replies of new kinds and languages still help.

${curveOf(trained)}

## Adding a reply

1. Add it to the newest file of \`data/sources/smtp-replies*.json\` with its label, \`also_ok\`, source and language, and
   a \`note\` if the label is not what the words say. A 4xx is never labelled as dead.
2. \`npm run replies -- --write\` trains the model (the same bytes for the same sources) and writes this page. It refuses to
   if another labelled reply changes between bad and not bad, until each is named: \`--accept s0001,t0042\`.
3. Commit the source, the model and this page. \`npm run check\` fails if the model is older than its sources.

If a reply about the client is read as a dead mailbox, fix the rules, because more rows alone change the model little. Start
with a failing test of its kind in \`src/engine/smtp/classify/whose.test.ts\`. Then change a slot of the lexicon, or how
clauses are read.

## Uncertain replies

Replies that no rule matched, that the model decided, or that only a weak rule did (below) are counted in the
[metrics](metrics.md) by rule, and listed by [\`mailvet replies\`](cli.md#replies) and on the operators' page *SMTP replies*.
What is kept is a template: addresses, hosts, IPs, URLs, ids and numbers become placeholders, as do words of the checked
address that are not in the lexicon, because servers greet their users by name. A name that is not part of the address
cannot be distinguished from other words and stays. Operators that are not in the list of mail hosts are called \`other\`. Per
operator, the 100 most frequent templates of 300 characters are kept, 1,000 in all, as long as the log: a server that
invents texts displaces only others as rare, of the same operator.

## The lexicon

Phrases by language: ${languages()}.

## The decision table

Predicate × subject; an empty cell says nothing.

${decisions()}

## The rules

${rules()}

## Operators' codes

${operatorForms()}
`;
}
