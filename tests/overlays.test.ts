/** That no dialog of the dashboard stays unopened in the tests (tests/browser/looks.test.ts) rests on these. */
import { expect, it } from 'vitest';
import { notOpened, overlaysIn } from './browser/overlays.ts';

const namesIn = (...texts: readonly string[]) =>
  overlaysIn(texts.map((text, n) => ({ path: `web/src/${n}.tsx`, text }))).map(({ role, name }) => `${role} ${name}`);

it.each([
  ['a title', 'const A = () => <Modal title={t`Time`} />;', ['dialog Time']],
  ['a menu', 'const A = () => <Menu.Dropdown aria-label={t`Views`} />;', ['menu Views']],
  ['an element with a role', 'const A = () => <div role="dialog" aria-label={t`Find`} />;', ['dialog Find']],
  ['a drawer', 'const A = () => <section data-drawer aria-label={t`Entry`} />;', ['dialog Entry']],
  ['a text that differs', `const A = ({ of }) => <Modal title={t\`Edit \${of.name}\`} />;`, ['dialog Edit …']],
  ['a condition', "const A = () => <Modal title={on ? t`On` : off ? t`Off` : ''} />;", ['dialog On', 'dialog Off']],
  [
    'a variable with a condition in a text',
    `function A() { const what = all ? t\`Check \${n}\` : t\`Retry\`; return <Modal title={\`\${what}?\`} />; }`,
    ['dialog Check …?', 'dialog Retry?'],
  ],
])('finds %s', (_, text, names) => {
  expect(namesIn(text)).toEqual(names);
});

it('names by their uses what components open that are given a name', () => {
  const [byProperty, byPattern, byVariable] = [
    'function Confirm(props) { return <Modal title={props.title} />; }',
    'const Chip = ({ name }) => <Menu.Dropdown aria-label={name} />;',
    'function Files(props) { const { label } = props; return <Popover.Dropdown aria-label={label} />; }',
  ];
  const uses = 'const A = () => <><Confirm title={t`Sure?`} /><Chip name="Type" /><Files label={t`Export`} /></>;';
  expect(namesIn(uses, byProperty, byPattern, byVariable)).toEqual(['dialog Sure?', 'menu Type', 'dialog Export']);
});

it('wants a name of all that opens', () => {
  expect(() => namesIn('const A = () => <Modal opened />;')).toThrow('What opens at web/src/0.tsx:1 has no title.');
});

it('tells what no row opened: the name that fits best counts, once for each row', () => {
  const place = 'a.tsx:1';
  const any = { place, role: 'dialog', name: '… …?' } as const;
  const [remove, other] = [
    { place, role: 'dialog', name: 'Delete …?' },
    { place: 'b.tsx:2', role: 'dialog', name: 'Delete …?' },
  ] as const;
  const menu = { place, role: 'menu', name: 'Time' } as const;
  const opened = (name: string) => [{ role: 'dialog', name } as const];
  expect(notOpened([any, remove, other], [opened('Delete spring.csv?')])).toEqual([
    'a.tsx:1: dialog … …?',
    'b.tsx:2: dialog Delete …?',
  ]);
  expect(notOpened([any, remove, other], ['Delete a?', 'Delete b?', 'Block c?'].map(opened))).toEqual([]);
  expect(notOpened([menu], [opened('Time')])).toEqual(['a.tsx:1: menu Time']);
});

it('finds those of the dashboard', () => {
  expect(overlaysIn().length).toBeGreaterThan(70);
});
