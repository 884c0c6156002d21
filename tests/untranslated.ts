/** Texts of the dashboard that are outside its translations: not in a macro of Lingui (web/lingui.ts). */
import { type Node, parse, placeOf, type Source, visit } from './syntax.ts';

/** Not shown, names of others, or for developers. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  'web/src/api/': 'the API, whose sentences are in English',
  'web/src/pages/design.tsx': 'a page for developers, in no menu',
  'web/src/pages/reference/client-calls.ts': 'code samples',
  'web/src/pages/reference/document.ts': 'the OpenAPI document, in English',
  'web/src/pages/reference/literals.ts': 'code samples',
  'web/src/pages/reference/samples.ts': 'code samples',
  'web/src/pages/reference/schema.ts': 'the OpenAPI document, in English',
  'web/src/pages/reference/typescript.ts': 'code samples',
  'web/src/parts/curl.ts': 'code samples',
  'web/src/parts/format.ts': 'names of formats',
  'web/src/parts/icon.tsx': 'shapes',
  'web/src/parts/mark.tsx': 'the name and its shape',
  'web/src/parts/operator-name.ts': 'names of companies',
  'web/src/parts/verdict/escape-invisible.ts': 'names of characters in ASCII',
  'web/src/routes.tsx': 'names of components',
  'web/src/theme.ts': 'styles',
};

/** Looks like a text, and is none, or is one in every language. */
const SAME_EVERYWHERE: ReadonlySet<string> = new Set([
  // Levels and units.
  'mx',
  'smtp',
  'ms',
  'UTC',
  'KiB',
  'MiB',
  'GiB',
  'n =',
  's',
  // Names.
  'Mailvet',
  'JSON Lines',
  'CSV',
  'XLSX',
  'JSON',
  'Etc/UTC',
  'Emailable',
  'Esc',
  'Ctrl',
  'HELO',
  'PTR',
  'SPF',
  // Code, and what is entered as an example.
  'POST /v1/outcomes',
  'POST /v1/outcomes/message',
  '"policy": "0"',
  'mailvet outcomes',
  '{"text": …}',
  'b2b-signup',
  'de',
  '192.0.2.10',
  '192.0.2.10\n2001:db8::/48',
  'mx1.example.com',
  'spam.example.com',
  'text/plain; charset=utf-8',
  // RFC 5321 and its codes: what a mail server says.
  'connected to mx1.fabrikam.example:25',
  '220 mx1.fabrikam.example ESMTP',
  'EHLO verify.mailvet.example',
  '250 ENHANCEDSTATUSCODES',
  'MAIL FROM:<probe@verify.mailvet.example>',
  '250 2.1.0 Sender ok',
  '250 2.1.5 Recipient ok',
  'input, textarea, select, [contenteditable], [role=menu], [role=listbox]',
  'RCPT TO:<george@fabrikam.example>',
  '550 5.1.1 User unknown',
]);

const MACROS = new Set(['t', 'plural', 'select', 'msg']);
const MACRO_ELEMENTS = new Set(['Trans', 'Plural']);
const CODE_ELEMENTS = new Set(['code', 'Code', 'kbd', 'Kbd', 'pre', 'samp', 'CodeBlock']);

/** Attributes and properties that are never shown. */
const HIDDEN =
  /^(?:className|classNames|styles?|id|to|href|hash|type|variant|size|color|component|autoComplete|autoCapitalize|inputMode|viewBox|d|transform|preserveAspectRatio|points|stroke\w*|fill|key|queryKey|path|htmlFor|rel|target|name|aria-(?:labelledby|describedby|controls|live|haspopup|keyshortcuts|current)|data-(?!label$)[\w-]+|pattern|position|mode|font\w*|grid\w*|background|border\w*|overflow\w*|white\w*|text[A-Z]\w*|flex\w*|padding\w*|margin\w*|max[A-Z]\w*|min[A-Z]\w*|authorization|method|role|icon|words|tt|underline|stamp)$/;
/** Functions whose arguments are never shown. */
const CALLS =
  /^(?:api|console|document|window|location|localStorage|Object|Reflect|JSON|URL|Intl|Date|RegExp|navigator)\b|^(?:getRouteApi|lazyPage|lazyPart|useShortcut|isShortcut|keysText|ariaKeys|matchMedia|addEventListener|factText|useMediaQuery|Error|TypeError|Set|Map|setText)$|\.(?:startsWith|endsWith|includes|split|indexOf|querySelector|querySelectorAll|closest|matches|getElementById|addEventListener|removeEventListener|setAttribute|getAttribute|removeAttribute|has|get|set|append|test|setItem|getItem|removeItem|replace|replaceAll|createElement|add|invalidateQueries)$/;
const KEYS = /^(?:Enter|Escape|Tab|Home|End|Shift|Control|Meta|Alt|Arrow\w+|Page(?:Up|Down)|Backspace)$/;
const CODE =
  /^(?:var\(|calc\(|repeat\(|minmax\(|--|url\(|[\d.]+(?:px|rem|em|%)|https?:|mailto:|[./#][^ ]*$|\[|M\d|Bearer )|^[A-Z\d_]+$|^\S+@\S+$|sans-serif|monospace|@mantine|[{};]$|^(?:switch|open|numbers) 0$/;

/** A space beside a letter, or a capital at the beginning. */
const looksLikeText = (text: string): boolean =>
  /\p{L}[\p{L}.,;:’'")–…]* |^ ?\p{Lu}\p{Ll}| \p{L}{2}/u.test(text) && !KEYS.test(text) && !CODE.test(text.trim());

const textOf = (node: Node): string | null => {
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : null;
  if (node.type === 'JSXText') return String(node.value);
  if (node.type !== 'TemplateLiteral') return null;
  return [node.quasis]
    .flat()
    .map((part) => JSON.parse(JSON.stringify(part)).value.cooked)
    .join('0');
};

const nameOf = (text: string, node: unknown): string =>
  typeof node === 'object' && node !== null && 'start' in node && 'end' in node
    ? text.slice(Number(node.start), Number(node.end))
    : '';

/** Whether what is below this node is in a macro, or is never shown. */
function isApart(text: string, node: Node): boolean {
  switch (node.type) {
    case 'TaggedTemplateExpression':
      return MACROS.has(nameOf(text, node.tag));
    case 'ImportDeclaration':
    case 'ExportAllDeclaration':
    case 'ImportExpression':
      return true;
    case 'JSXAttribute':
      // A name of a field is in lower case; of a filter, it is shown.
      return HIDDEN.test(nameOf(text, node.name)) && !/^name="[A-Z]/.test(text.slice(node.start, node.end));
    case 'Property':
      return HIDDEN.test(nameOf(text, node.key));
    case 'CallExpression':
    case 'NewExpression':
      return CALLS.test(nameOf(text, node.callee)) || MACROS.has(nameOf(text, node.callee));
    default:
      return (
        /^TS(?!As|Satisfies|NonNull)/.test(node.type) || (node.type === 'BinaryExpression' && node.operator !== '+')
      );
  }
}

/** `path:line: text` of each text that has no translation. */
export function untranslatedIn(source: Source): string[] {
  if (Object.keys(LEFT_OUT).some((path) => source.path.startsWith(path))) return [];
  const { text } = source;
  const found: string[] = [];
  /** Within `<Trans>`: what is written there is part of its message, but not what is in braces. */
  const look = (node: Node, inMessage: boolean): void =>
    visit(node, (one) => {
      if (one === node) return true;
      if (isApart(text, one)) return false;
      if (one.type === 'Property' || one.type === 'SwitchCase') {
        // Not the key.
        for (const part of [one.type === 'Property' ? one.value : one.consequent].flat())
          if (isNode(part)) look({ type: 'Part', start: part.start, end: part.end, part }, inMessage);
        return false;
      }
      if (one.type === 'JSXElement') {
        const name = nameOf(text, isNode(one.openingElement) ? one.openingElement.name : null);
        if (CODE_ELEMENTS.has(name)) return false;
        if (name === 'Plural') return false;
        if (MACRO_ELEMENTS.has(name)) {
          look(one, true);
          return false;
        }
      }
      if (inMessage && one.type === 'JSXExpressionContainer') {
        look(one, false);
        return false;
      }
      const shown = textOf(one);
      if (shown === null || SAME_EVERYWHERE.has(shown.trim())) return true;
      const isBare = one.type === 'JSXText' ? !inMessage && /\p{L}/u.test(shown) : looksLikeText(shown);
      if (isBare) found.push(`${placeOf(source, one)}: ${shown.trim()}`);
      return true;
    });
  look(parse(source), false);
  return found;
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
