import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { allEntries, type DisposableEntry, formatDisposable, LETTER_BIT } from './disposable-file.ts';
import { packagedDir, readDisposable, watchDomainData } from './domain-data.ts';
import { type FetchText, type UpdateFault, updateDisposable } from './update.ts';

// The package's own files, with one in forty of its disposable domains: the whole list would only make this slow.
const packaged = mkdtempSync(join(tmpdir(), 'mailvet-packaged-'));
cpSync(packagedDir(), packaged, { recursive: true });
const shipped = readDisposable(packagedDir());
const entries = new Map(
  [...allEntries(shipped)].filter(([name], i) => i % 40 === 0 || name === 'mailinator.com' || name === 'dns.army'),
);
const write = (dir: string, version: string, list: ReadonlyMap<string, DisposableEntry>) =>
  writeFileSync(join(dir, 'disposable.txt'), formatDisposable(version, shipped.sources, list));
write(packaged, shipped.version, entries);
afterAll(() => rmSync(packaged, { recursive: true, force: true }));

const namesOf = (bit: number) => [...entries].filter(([, e]) => (e.bits & bit) !== 0).map(([name]) => name);
const curated = namesOf(LETTER_BIT.a);
const crawled = namesOf(LETTER_BIT.b);
const two = { disposable: 'https://lists.example/a', fakefilter: 'https://lists.example/b' };
const urls = { ...two, mailchecker: null, tompec: null, ivolo: null };
const serve =
  (a: readonly string[], b: readonly string[] = crawled): FetchText =>
  async (url) =>
    `# a list\n\n${(url === urls.disposable ? a : b).join('\n')}\n`;

// 2026-11-25T12:00:00Z
const clock = { now: () => 1_795_608_000_000, elapsed: () => 0 };
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'mailvet-lists-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const update = (fetchText: FetchText, into = dir) => updateDisposable({ dir: into, packaged, urls, fetchText, clock });
/** One list is refused, and the other is used; alone, it ends the update. */
const refused = async (
  fetchText: FetchText,
  code: UpdateFault,
  message: RegExp,
  source: keyof typeof two = 'disposable',
) => {
  const { sources } = await update(fetchText);
  for (const outcome of sources) {
    if (outcome.source === source) expect(outcome.problem).toMatch(message);
    else expect(outcome.problem).toBeNull();
  }
  const alone = { ...urls, disposable: null, fakefilter: null, [source]: two[source] };
  const failing = updateDisposable({ dir, packaged, urls: alone, fetchText, clock });
  await expect(failing).rejects.toMatchObject({ name: 'ListUpdateError', code });
};

describe('disposable update', () => {
  it('adds new domains, drops removed ones, keeps those still on other lists', async () => {
    const alone = curated.filter(
      (name) => entries.get(name)!.bits === LETTER_BIT.a && entries.get(name)!.reason === null,
    );
    const gone = alone[0]!;
    const still = 'mailinator.com';
    const next = [
      ...curated.filter((name) => name !== gone && name !== still),
      'brand-new-burner.com',
      'BÜRNER.example.com',
    ];
    const watched = watchDomainData(dir, clock, { packaged, checkEveryMs: 0 });
    const before = watched.current;
    expect(before.disposable('brand-new-burner.com').verdict).toBe('none');

    const summary = await update(serve(next));
    expect(summary).toMatchObject({ version: '2026-11-25', added: 2, removed: 1, total: before.size + 1 });
    expect(readdirSync(dir)).toEqual(['disposable.txt']);

    const after = watched.current;
    expect(after.version).toBe('2026-11-25');
    expect(after.disposable('brand-new-burner.com').verdict).toBe('disposable');
    expect(after.disposable('xn--brner-kva.example.com').verdict).toBe('disposable');
    expect(after.disposable(gone).verdict).toBe('none');
    expect(after.disposable(still).verdict).toBe('disposable');
    expect(after.explain('brand-new-burner.com').named[0]?.sources[0]).toContain('fetched 2026-11-25');
    expect(watched.current).toBe(after);
    // Holders of the old object can still use it.
    expect(before.disposable(gone).verdict).toBe('disposable');
  });

  it('keeps public suffixes, zones, relays and cleared providers out', async () => {
    await update(serve([...curated, 'duckdns.org', 'mooo.com', 'duck.com', 'tom.com', 'nowhere.notatld']));
    const lists = watchDomainData(dir, clock, { packaged }).current;
    for (const name of ['duckdns.org', 'mooo.com', 'nowhere.notatld'])
      expect(lists.disposable(name).verdict).toBe('none');
    for (const name of ['duck.com', 'tom.com']) expect(lists.disposable(name).verdict).toBe('allowed');
  });

  it('never dates a list earlier than the one it replaces', async () => {
    const behind = { now: () => 0, elapsed: () => 0 };
    const { version } = await updateDisposable({ dir, packaged, urls, fetchText: serve(curated), clock: behind });
    expect(version).toBe(shipped.version);
  });

  it('changes nothing if the sources are unchanged', async () => {
    const first = await update(serve(curated));
    expect(first).toMatchObject({ added: 0, removed: 0 });
    const text = readFileSync(first.path);
    await update(serve([...curated].reverse()));
    expect(readFileSync(first.path).equals(text)).toBe(true);
  });

  it('rejects a list that shrank by more than a fifth, and accepts one that shrank by less', async () => {
    await refused(serve(curated.slice(0, Math.floor(curated.length * 0.79))), 'shrunk', /more than a fifth is gone/);
    await refused(
      serve(curated, crawled.slice(0, Math.floor(crawled.length / 2))),
      'shrunk',
      /lists\.example\/b/,
      'fakefilter',
    );
    await refused(serve([]), 'shrunk', /has 0 domains/);
    await expect(update(serve(curated.slice(0, Math.ceil(curated.length * 0.85))))).resolves.toBeTruthy();
  });

  it.each(['gmail.com', 'outlook.de', 'onet.pl', 'yahoo.com'])('rejects a list that contains %s', async (sentinel) => {
    await refused(serve([...curated, sentinel]), 'names_a_provider', new RegExp(sentinel));
  });

  it.each([
    ['a page', '<!doctype html><title>429</title>'],
    ['a sentence', 'mailinator.com is bad'],
    ['an address', 'jane@mailinator.com'],
    ['a URL', 'https://mailinator.com/'],
    ['a top-level domain', 'com'],
    ['control characters', 'mail\u0000inator.com'],
  ])('refuses %s among the domains', async (_, line) => {
    await refused(serve([...curated, line]), 'not_a_list', /line \d+ is not a domain name/);
  });

  it('reports a failed fetch, and limits size and time', async () => {
    const reset: FetchText = async (url, limit) => {
      if (url === urls.disposable) throw new Error('ECONNRESET');
      return serve(curated)(url, limit);
    };
    await refused(reset, 'fetch_failed', /ECONNRESET/);
    await update(async (url, limit) => {
      expect(limit).toEqual({ maxBytes: 16 * 1024 * 1024, timeoutMs: 30_000 });
      return serve(curated)(url, limit);
    });
  });

  it('keeps what a list that fails named before, and says when each was downloaded', async () => {
    await update(serve([...curated, 'brand-new-burner.com']));
    const later = { ...clock, now: () => clock.now() + 3_600_000 };
    const summary = await updateDisposable({
      dir,
      packaged,
      urls,
      clock: later,
      fetchText: serve(['gmail.com'], [...crawled, 'another-burner.com']),
    });
    expect(summary.sources.map(({ domains }) => domains)).toEqual([curated.length + 1, crawled.length + 1]);
    const { fetched, made } = readDisposable(dir);
    expect(Object.fromEntries(fetched)).toEqual({ a: '2026-11-25T12:00:00.000Z', b: '2026-11-25T13:00:00.000Z' });
    expect(made).toBe('2026-11-25T13:00:00.000Z');
    const lists = watchDomainData(dir, clock, { packaged }).current;
    for (const name of ['brand-new-burner.com', 'another-burner.com'])
      expect(lists.disposable(name).verdict).toBe('disposable');
  });

  it('weighs the other lists as the package does: one alone is a suspicion, two of them decide', async () => {
    const third = namesOf(LETTER_BIT.c);
    const all = { ...two, mailchecker: 'https://lists.example/c', tompec: 'https://lists.example/d', ivolo: null };
    const summary = await updateDisposable({
      dir,
      packaged,
      urls: all,
      clock,
      fetchText: async (url, limit) => {
        if (url === all.mailchecker) return [...third, 'one-list.com', 'two-lists.com', 'nomail.com'].join('\n');
        return url === all.tompec
          ? JSON.stringify([...namesOf(LETTER_BIT.d), 'two-lists.com', 'not a domain'])
          : serve(curated)(url, limit);
      },
    });
    expect(summary.sources.map(({ problem }) => problem)).toEqual([null, null, null, null]);
    const lists = watchDomainData(dir, clock, { packaged }).current;
    expect(lists.disposable('one-list.com').verdict).toBe('suspected');
    expect(lists.disposable('two-lists.com').verdict).toBe('disposable');
  });

  it.each(['{}', '[1]', '["a b"]', '<html>'])('refuses %s instead of a JSON array of domains', async (text) => {
    const alone = { ...urls, disposable: null, fakefilter: null, tompec: 'https://lists.example/d' };
    const failing = updateDisposable({ dir, packaged, urls: alone, fetchText: async () => text, clock });
    await expect(failing).rejects.toMatchObject({ code: 'not_a_list' });
  });

  it('dates a different list later, even where the clock stands still', async () => {
    await update(serve([...curated, 'brand-new-burner.com']));
    const first = readDisposable(dir).made;
    await update(serve(curated));
    expect(readDisposable(dir).made > first).toBe(true);
  });

  it('changes nothing when every list is rejected, or it cannot be written', async () => {
    await update(serve([...curated, 'brand-new-burner.com']));
    const before = readFileSync(join(dir, 'disposable.txt'));
    await expect(update(serve(['gmail.com'], ['gmail.com']))).rejects.toMatchObject({ code: 'names_a_provider' });
    expect(readdirSync(dir)).toEqual(['disposable.txt']);
    expect(readFileSync(join(dir, 'disposable.txt')).equals(before)).toBe(true);
    await expect(update(serve(curated), join(dir, 'disposable.txt'))).rejects.toMatchObject({ code: 'not_written' });
  });
});

describe('watched lists', () => {
  it('work without a downloaded list, and without a directory', () => {
    expect(watchDomainData(join(dir, 'not-there'), clock).current.size).toBeGreaterThan(15_000);
    expect(watchDomainData(null, clock).problem).toBeNull();
  });

  it('prefer the packaged list to an older download', () => {
    write(dir, '2026-11-19', new Map([['brand-new-burner.com', { bits: LETTER_BIT.a, reason: null }]]));
    expect(watchDomainData(dir, clock, { packaged }).current.size).toBe(readDisposable(packaged).verdict.size);
    write(dir, shipped.version, new Map([['brand-new-burner.com', { bits: LETTER_BIT.a, reason: null }]]));
    expect(watchDomainData(dir, clock, { packaged }).current.size).toBe(1);
  });

  it('keep the current list when the download is damaged, report it, and use the next good one', async () => {
    const watched = watchDomainData(dir, clock, { packaged, checkEveryMs: 0 });
    await update(serve([...curated, 'brand-new-burner.com']));
    const good = watched.current;
    const path = join(dir, 'disposable.txt');
    const text = readFileSync(path, 'latin1');
    writeFileSync(path, text.slice(0, 10_000));
    expect(watched.current).toBe(good);
    expect(watched.problem).toContain('disposable.txt');
    writeFileSync(path, text);
    utimesSync(path, 1, 1);
    expect(watched.current.disposable('brand-new-burner.com').verdict).toBe('disposable');
    expect(watched.problem).toBeNull();
    rmSync(path);
    expect(watched.current.disposable('brand-new-burner.com').verdict).toBe('none');
  });

  it('limit how often they check the file', async () => {
    let now = 0;
    const watched = watchDomainData(dir, { now: clock.now, elapsed: () => now }, { packaged, checkEveryMs: 20 });
    await update(serve([...curated, 'brand-new-burner.com']));
    expect(watched.current.disposable('brand-new-burner.com').verdict).toBe('none');
    now = 20;
    expect(watched.current.disposable('brand-new-burner.com').verdict).toBe('disposable');
  });
});
