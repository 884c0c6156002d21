// Reads the reports of test runners of other languages. Plain JavaScript for Node 20 without packages, as `npm test`
// starts with it; such a report is small, and of our own tests.

const ENTITIES = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

const unescaped = (text) =>
  text.replaceAll(/&(?:#x([\da-f]+)|#(\d+)|(\w+));/gi, (whole, hex, decimal, name) =>
    name === undefined
      ? String.fromCodePoint(Number.parseInt(hex ?? decimal, hex ? 16 : 10))
      : (ENTITIES[name] ?? whole),
  );

const attribute = (tag, name) => unescaped(new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1] ?? '');

/**
 * How many tests passed, and those that failed or could not start. Throws Error for what is no JUnit report. `folder`:
 * of the tests, for their names.
 */
export function readJunit(xml, folder) {
  if (!/<testsuites?\b/.test(xml)) throw new Error('This is not a JUnit report.');
  const failed = [];
  let passed = 0;
  for (const [, tag = '', body = ''] of xml.matchAll(/<testcase\b([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g)) {
    const failure = /<(?:failure|error)\b([^>]*)>/.exec(body);
    const title = `${folder}: ${attribute(tag, 'classname')} ${attribute(tag, 'name')}`;
    if (failure !== null)
      failed.push({ path: folder, title, message: attribute(failure[1], 'message').split('\n', 1)[0] });
    else if (!/<skipped\b/.test(body)) passed += 1;
  }
  return { passed, failed };
}
