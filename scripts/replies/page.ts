import { loadCodes } from '../../src/engine/smtp/classify/codes.ts';
import { DECISIONS, RULES } from '../../src/engine/smtp/classify/decide.ts';
import { agrees, agreesStrictly, evaluate, isFalsePositive } from '../../src/engine/smtp/classify/evaluation.ts';
import { entriesOf, loadLexicon } from '../../src/engine/smtp/classify/lexicon.ts';
import { SUBJECTS } from '../../src/engine/smtp/classify/predicates.ts';
import { createClassifier } from '../../src/engine/smtp/classify.ts';
import { FOLDS, forms, type Held, labelled, written } from './folds.ts';
import { byLabel, byLanguage, bySet, isAboutUs, isGone, mean, recognized } from './tables.ts';

const share = (of: readonly Held[], part: (of: readonly Held[]) => number): number => part(of) / of.length;
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

function lexicon(): string {
  const counts = new Map<string, number>();
  for (const { language } of entriesOf(loadLexicon())) {
    if (language !== '') counts.set(language, (counts.get(language) ?? 0) + 1);
  }
  return [...counts].map(([language, count]) => `${language} ${count}`).join(', ');
}

/** docs/classification.md */
export function page(held: readonly Held[]): string {
  const classifier = createClassifier();
  const sets = evaluate(classifier, written()).map((one, index) => ({ ...one, set: written()[index]!.set }));
  const [aboutUs, gone] = [held.filter(isAboutUs), held.filter(isGone)];
  return `# How SMTP replies are classified

Made by \`npm run replies -- --write\`; do not edit. The text is in \`scripts/replies/page.ts\`.

\`mailvet reply "550 5.7.1 …"\` shows how one reply is read.

## How a reply is read

1. **What the server echoes is taken out**: the address, our names and IP addresses, URLs, host names, ids. A word of the
   address never counts.
2. **Words are looked up** in [data/smtp-lexicon.json](../data/smtp-lexicon.json): nouns (recipient, domain, sender,
   client, message, server …), predicates (absent, disabled, full, refuses, later …), negations, and words that join
   them. The text is split into words, not searched with patterns, so the time is bounded by its length, of which the
   first 1,500 characters count. The lines of a reply are joined by spaces; where a server may have cut a word in two,
   the text is read both ways, and the address is bad only if both say so. A language without words for refusal and
   negation is refused when the file is loaded: with nouns alone, "the recipient refuses" would look like "no such
   recipient".
3. **Clauses**: each predicate is joined with its subject and its negation. "The sender's address was not found" is
   *sender absent*, "too many unknown users" says something of the client, "if the user does not exist" says nothing.
   An unknown noun after "no such" counts as the recipient, because at RCPT nothing else is looked for.
4. **The decision table** below maps each clause to a rule. Of all rules the one with the highest rank decides: first what
   the server demands (TLS) and what is surely about the client (its IP, name, sender), then what is said of the mailbox,
   then general refusals and trouble.
5. **Enhanced codes** (RFC 3463, RFC 5248) are weak evidence: any clause that speaks of the client, a refusal or trouble
   overrides them, and a code without words makes no address bad.
6. **Operators' own codes** ([data/smtp-codes.json](../data/smtp-codes.json)) come before the clauses, because their words
   mislead: "mailbox unavailable … Reject due to policy restrictions" is about the client.

A reply makes an address bad only if it says that the recipient is absent, disabled or full, or that its domain is not
served here. A refusal never does, nor does a noun, a reply code, or "could not be verified". One phrase is inferred:
"mailbox unavailable" in a 5xx reply without any other reason counts as a missing mailbox, because RFC 5321 §4.2.3
defines 550 that way and servers use it so. A 4xx never makes an address bad: "full" becomes "full for now", the rest a
temporary failure; a 450 or 451 that only asks to wait counts as greylisting, which is inferred as well (RFC 6647). A reply
before RCPT is never about the mailbox.

## Uncertain replies

Replies that no rule matched (\`unmatched.*\`), or only one that the table below calls weak, are counted in the
[metrics](metrics.md) by rule, and listed by [\`mailvet replies\`](cli.md#replies) and on the operators' page *SMTP replies*.
What is kept is a template: addresses, hosts, IPs, URLs, ids and numbers become placeholders, as do words of the checked
address that are not in the lexicon, because servers greet their users by name. A name that is not part of the address
cannot be told from other words and stays. Operators that are not in the list of mail hosts are called \`other\`. Per
operator, the 100 most frequent templates of 300 characters are kept, 1,000 in all, as long as the log: a server that
invents texts displaces only others as rare, of the same operator.

## Accuracy on replies whose wording was held out

${labelled().length} labelled replies from public sources
([data/sources/smtp-replies.json](../data/sources/smtp-replies.json)), read without naming the operator. Replies that share
half of their words, directly or through others, are one family; the families are spread over ${FOLDS} folds, together with
the typical forms below. Each fold is read **without** the phrases of the lexicon and the operators' rows that occur in no
other fold. The mean over the folds:

| | strict | with \`also_ok\` |
|---|--:|--:|
| right label | ${mean(held, (of) => share(of, (f) => f.filter(agreesStrictly).length))} | ${mean(held, (of) => share(of, (f) => f.filter(agrees).length))} |
| no such user (5xx) recognized | ${mean(held.filter(isGone), (of) => share(of, recognized))} | |
| the same, of all replies | ${recognized(gone)} of ${gone.length} | |
| about the client, the server or time, read as a dead mailbox | ${held.filter(isFalsePositive).length} of ${aboutUs.length} | |

${byLabel(held)}

By language (the one with most of a reply's words):

${byLanguage(held)}

Families differ in size: "Recipient address rejected: …" alone fills a fold, and a fold of three replies weighs as much, so
the second figure of the recognized ones is the steadier one. Most of the others say no more than "rejected" or "access
denied", or depend on an operator's row that was held out as well.

What these figures mean: words are held out, judgment is not. The decision table, the slots and the way in which clauses
are read were made with all of these replies in view, and changed because of what the folds missed ("no such person",
"dosn't exist"), so unseen replies will do somewhat worse than the fit; and words that a speaker of the language would have
listed anyway are taken away with their family, so they may do better than the folds.
The same replies with the whole lexicon:

${byLabel(evaluate(classifier, labelled()))}

## Written refusals in many languages

${written().length} sentences ([data/sources/smtp-replies-written.json](../data/sources/smtp-replies-written.json)), written by
the project in the style of servers, most of them refusals, faults of the client and temporary failures that name a
recipient; in c and d, as many about the mailbox. They were not observed. Set a was written before the lexicon, b after it,
c before the lexicon grew from dictionaries, d after that. The first run of each, before any correction, next to the rules
that the classifier had before clauses:

| set | replies | with \`also_ok\` | false dead mailbox | rules before: \`also_ok\` | false dead mailbox |
|---|--:|--:|--:|--:|--:|
| a | 253 | 241 (95.3 %) | 2 of 201 | 196 (77.5 %) | 47 of 201 |
| b | 134 | 107 (79.9 %) | 7 of 110 | 92 (68.7 %) | 38 of 110 |
| c | 175 | 157 (89.7 %) | 3 of 80 | | |
| d | 50 | 45 (90.0 %) | 0 of 24 | | |

Of the replies about a mailbox, 79 of 95 in c and 20 of 26 in d were recognized. What the sets revealed was corrected in general (indirect questions, unknown verbs after a negation, the sender as the
subject), not sentence by sentence. The author of the lexicon wrote them, so they prove less than replies of real servers
would. Now:

${bySet(sets, ({ set }) => set)}

The other languages rest on these sentences and on dictionaries more than on observed replies: of the labelled replies,
most are English. The lexicon has phrases in: ${lexicon()}.

## Typical forms

Typical replies of common servers, as a regression test
([data/sources/smtp-reply-forms.json](../data/sources/smtp-reply-forms.json)). The project wrote them from general
knowledge, neither captured from servers nor copied from manuals:

${byLabel(evaluate(classifier, forms()))}

## The decision table

Predicate × subject; an empty cell says nothing.

${decisions()}

## The rules

${rules()}

## Operators' codes

${operatorForms()}
`;
}
