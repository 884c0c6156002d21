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
    ...[
      grouped('set', trained.held, ({ row }) => row.set),
      grouped('label', observed(trained.held), ({ reply }) => reply.label),
    ],
    grouped('language', observed(trained.held), ({ language }) => language),
    grouped('server family', observed(trained.held), ({ row }) => familyOf(row)),
    grouped('held back: language', trained.heldBack, ({ language }) => language),
    ...[curveOf(trained), trade(trained)],
  ].join('\n\n');

/** docs/classification.md */
export function page(trained: Trained, sources: string): string {
  const all = observed(trained.held);
  const { dead, wordless, sure, doubt } = THRESHOLDS;
  return `# How SMTP replies are read

Made by \`npm run replies -- --write\` from the sources \`${sources}\`; do not edit. The text is in
\`scripts/replies/page.ts\`.

A reply to RCPT decides whether a person's address is called dead, so two figures count: how many replies about *you* (your
IP address, sender, pace, a greylist) or about a server in trouble are taken for a dead mailbox, and how many mailboxes that
do not exist are recognized. On ${all.length} observed replies, each read by a classifier that had not seen its source:

${summary(trained)}

\`mailvet reply "550 5.7.1 …"\` shows how one reply is read, and why.

## One reply's way

1. **What cannot be about the mailbox.** A 2xx accepts. A 4xx never makes an address bad: "full" becomes "full for now", the
   rest a temporary failure, or greylisting if it only asks to wait, and not for a server (RFC 6647). A reply before RCPT
   is about the client, even if it names a fault in a 5xx. A reply whose lines contradict each other decides nothing.
   After a 4xx to RCPT that is not about the mailbox or the client, the next mail host is asked
   ([dialogue](operating.md#the-dialogue)).
2. **What the server echoes is taken out**: the address, our names and IP addresses, URLs, host names, ids. A word of the
   address never counts. The first 2,000 characters count.
3. **Operators' own codes** ([data/smtp-codes.json](../data/smtp-codes.json)) come first, because their words mislead: "mailbox
   unavailable … Reject due to policy restrictions" is about the client.
4. **Clauses.** Words are looked up in [data/smtp-lexicon.json](../data/smtp-lexicon.json): nouns (recipient, group, sender,
   client, message, server …), predicates (absent, disabled, full, refuses, demands, only …), negations. Each predicate is
   joined with its subject: "the sender's address was not found" is *sender absent*, "too many unknown users" says
   something of the client, "if the user does not exist" says nothing. [The table](#the-decision-table) maps each clause to
   a rule; of all rules the one with the highest rank decides.
5. **Enhanced codes** (RFC 3463) are weak evidence. A code makes an address bad only beside words that fit: they name a
   recipient, deny or refuse something in the same language, and name neither the sender nor what is counted. X.1.0 never
   does, nor any code in a 500 to 503. X.5.1, X.5.2 and X.5.4 are about the command: beside them no domain is unknown.
6. **The model** is asked about a 5xx to RCPT, from 504 on, that the rules call bad, or that no rule reads, or none that is
   sure of whom it speaks. It is a linear one ([data/smtp-model.tsv](../data/smtp-model.tsv)): the code, words in a row,
   pieces of words, what the words mean, and what the rules make of them add up to a probability that the mailbox cannot
   be reached. From ${dead} on it calls the address bad; from ${wordless} if no known word denies or refuses anything, so that it does
   not guess from the place, or one says that something is closed, but not what; from ${sure} if the rules read a refusal, a limit or trouble of nobody, or an IP address is named;
   never if the reply names the sender, "you", a group, a kind of user ("not a registered gateway user") or what is
   counted, if it says that something else is closed, or if its code is about the command. Below
   ${doubt} it denies what a rule says. It never overrules a rule that is sure that a reply is about the client.
7. What remains is *unverifiable*, which is never bad.

The evidence of a verification says what decided: \`decided_by\` is \`operator\`, \`rule\` or \`model\`, \`probability\` what the
model thought. Probabilities are calibrated (Platt scaling) on sources that the model had not seen.

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
- Languages in which the project has few replies (below): there the rules rest on dictionaries, and the model has little
  to learn from.

## Figures

Each reply is read by a model that was trained without its source and without replies of the same wording, and by a
lexicon without what only its family of wordings needs, if the lexicon was made with it. "Falsely dead": replies about the
client, the server or time, without those that a fair judge may take for a dead mailbox (\`also_ok\`), read as one. "Found":
no such mailbox, 5xx, read as a dead mailbox of any kind. "Right or acceptable": the label, or one of \`also_ok\`.
Sources held back took no part in training. They are not untouched: some of their replies were read while the rules were made,
and the label of one was questioned, so that replies of new sources may fare worse.

${grouped('set', trained.held, ({ row }) => row.set)}

${grouped('label', all, ({ reply }) => reply.label)}

${grouped('language', all, ({ language }) => language)}

${grouped('server family', all, ({ row }) => familyOf(row))}

Of the sources held back:

${grouped('language', trained.heldBack, ({ language }) => language)}

### The trade

What other thresholds would give, on the same replies and on made-up words ("550 account quux garply", "recipient address
rejected: quux"), which a model that guesses from the place calls dead:

${trade(trained)}

### Would more replies help?

A part of the sources, the same test:

${curveOf(trained)}

## Adding a reply

1. Add it to the newest file of \`data/sources/smtp-replies*.json\` with its label, \`also_ok\`, source and language, and
   a \`note\` if the label is not what the words say. A 4xx is never labelled as dead.
2. \`npm run replies -- --write\` trains the model (the same bytes for the same sources) and writes this page. It refuses to
   if another labelled reply changes between bad and not bad, until each is named: \`--accept s0001,t0042\`.
3. Commit the source, the model and this page. \`npm run check\` fails if the model is older than its sources.

If a reply about the client is read as a dead mailbox, mend the rules: a test of its kind in
\`src/engine/smtp/classify/whose.test.ts\`, then a slot of the lexicon or the way in which clauses are read. More rows alone
move the model little.

## Uncertain replies

Replies that no rule matched, that the model decided, or that only a weak rule did (below) are counted in the
[metrics](metrics.md) by rule, and listed by [\`mailvet replies\`](cli.md#replies) and on the operators' page *SMTP replies*.
What is kept is a template: addresses, hosts, IPs, URLs, ids and numbers become placeholders, as do words of the checked
address that are not in the lexicon, because servers greet their users by name. A name that is not part of the address
cannot be told from other words and stays. Operators that are not in the list of mail hosts are called \`other\`. Per
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
