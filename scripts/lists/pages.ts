/** data/lists.json (the manifest) and data/SOURCES.md. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FREQUENT_PASSWORDS } from '../../src/service/sign-in/validate.ts';
import { type build, KEPT, type Sources, sha256 } from './build.ts';

type Built = ReturnType<typeof build>;

/** Version, counts and the SHA-256 of every file of the lists. */
export function manifest(dir: string, sources: Sources, { built, counts, perSource }: Built): string {
  const kept = KEPT.map((name): [string, string] => [name, sha256(readFileSync(join(dir, name)))]);
  const made = [...built].map(([name, content]): [string, string] => [name, sha256(content)]);
  const named = perSource.map((row) => {
    const { name, version } = sources.packages.find((p) => p.letter === row.letter)!;
    return { name, version, ...row };
  });
  const files = { built: Object.fromEntries(made), kept: Object.fromEntries(kept) };
  return `${JSON.stringify({ version: sources.version, counts, sources: named, files }, null, 2)}\n`;
}

/** data/SOURCES.md: the sources with license and use, and the resulting files. */
export function sourcesPage(sources: Sources, { counts, perSource }: Built): string {
  const n = (value: number): string => value.toLocaleString('en-US');
  const OTHER_NAMES: Readonly<Record<string, number>> = { p: FREQUENT_PASSWORDS, t: counts.tlds };
  const rows = sources.packages.map((p) => {
    const row = perSource.find(({ letter }) => letter === p.letter);
    const names = n(row?.names ?? OTHER_NAMES[p.letter] ?? 0);
    const out = row?.setAside === undefined ? '' : n(row.setAside + row.malformed);
    return `| ${p.letter} | [${p.name}](${p.url}) ${p.version} | ${p.published} | [${p.licence}](${p.licenceFile}) | \`${p.file}\` | ${names} | ${out} | ${p.use} |`;
  });
  const aside = Object.entries(counts.setAside).map(([reason, count]) => `${n(count)} ${reason}`);
  return `# Data sources

Made by \`npm run lists\` from \`sources.json\`; \`npm run lists -- --check\` rebuilds and compares byte for byte. Version ${sources.version}.
Names and replies are facts; the packages they come from keep their licenses, whose texts and notices are in \`LICENSES/\`.

## Packages

| letter | package | published | license | file used | names | ignored | use |
|---|---|---|---|---|---:|---:|---|
${rows.join('\n')}

Letter f in \`disposable.txt\` means that both g and h call the domain a free provider.

## Built files

| file | entries | rule |
|---|---:|---|
| \`disposable.txt\`, verdict tier | ${n(counts.disposable)} | a ∪ b ∪ (c ∩ (d ∪ e) ∖ f) |
| \`disposable.txt\`, suspicion tier | ${n(counts.suspected)} | the rest of a ∪ b ∪ c ∪ d ∪ e |
| \`disposable.txt\`, ignored | ${n(Object.values(counts.setAside).reduce((a, b) => a + b, 0))} | listed by a source, but in no tier: ${aside.join(', ')} |
| \`free.txt\` | ${n(counts.free)} | g ∩ h, minus both tiers, \`mistyped.txt\`, public suffixes and zones; entries of \`allow.txt\` stay |
| \`frequent-passwords.txt\` | ${n(counts.passwords)} | the first ${n(FREQUENT_PASSWORDS)} of p, in lower case, without the digits and punctuation around them, each once |
| \`roles.json\` | ${n(counts.roles)} + ${n(counts.perhaps)} | "role" is \`roles.txt\`; "perhaps" is the rest of \`sources/role-localparts.txt\` |
| \`tlds.txt\` | ${n(counts.tlds)} | all of t, as A-labels |

Ignored: \`suffix\` is a public suffix (Public Suffix List, by tldts), \`zone\` a free-subdomain zone of \`zones.txt\`, \`tld\` has no
existing top-level domain, \`allow\` and \`relay\` are exempted by those lists. Malformed names are dropped and counted in \`lists.json\`.

## Maintained by hand

| file | entries | content and origin |
|---|---:|---|
| \`allow.txt\` | ${n(counts.allow)} | real mail domains that the lists contain, each with a reason. Compared with \`allowlist.conf\` of disposable-email-domains/disposable-email-domains (CC0) |
| \`relays.json\` | ${n(counts.relays)} | alias and privacy-relay domains, each with operator and the operator's page. A service is included if its aliases are permanent and lead to one person's mailbox, and neither a nor b calls it disposable. So 33Mail, erine.email and Sneakemail are relays, and spamgourmet (whose addresses expire after a few messages), Blur, e4ward and spamex are not |
| \`zones.txt\` | ${n(counts.zones)} | free-subdomain zones, each with operator, from the operators' own lists |
| \`suggest.txt\`, \`known.txt\`, \`mistyped.txt\` | | targets of \`did_you_mean\`, each with operator and country (most are in g and h too); providers that are never "corrected"; typos that the lists contain as providers |
| \`free-families.json\` | | names and suffixes under which providers give mailboxes to anybody, from their sign-up pages and documentation |
| \`sentinels.txt\` | | providers that no downloaded list may contain |
| \`roles.txt\` | ${n(counts.roles)} | RFC 2142, RFC 5321 §4.5.1, and functional names in several languages |
| \`sources/role-localparts.txt\` | 929 | local parts seen as role accounts |
| \`shared-mail-hosts.txt\` | | mail hosts that many customers share, which are never disposable: from the operators' setup instructions |
| \`mx-providers.json\`, \`disposable-mx.json\` | | mail hosts of providers, and of disposable services, collected from public documentation and checkers |

## Replies of mail servers

| file in \`sources/\` | content and origin |
|---|---|
| \`smtp-replies.json\` | observed replies, and rules of bounce handlers. \`source\` names the origin; what begins with \`sisimai:\` is from Sisimai (BSD-2-Clause, [text](LICENSES/smtp-replies.txt)) |
| \`smtp-replies-3.json\` | single replies from logs and bounces that people published, from help pages, from the source code of servers and policy daemons (spamdyke: GPL-2.0, SPFBL: GPL-3.0), and from rules and tests of bounce handlers and verifiers (Sisimai: BSD-2-Clause; Sympa, MailPress: GPL). A reply is a fact; no code was copied, and local parts, domains and IP addresses are examples. \`form\` tells how it was found: \`seen\` in a log, a bounce or on a page, \`template\` in the code of a server, \`rule\` in a rule that looks for it (the code is the usual one), \`fixture\` in a test |
| \`smtp-replies-written.json\`, \`smtp-reply-forms.json\` | written by the project |

\`disposable update\` replaces a to e by their latest versions, downloaded from the repositories (\`docs/data-sources.md\`).

The other files of this folder (\`smtp-*.json\`, \`typos.json\`, \`mailbox-rules.json\`, \`confusables.json\`) name their sources in their rows or header.
`;
}
