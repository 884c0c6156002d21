/**
 * What was typed into forms when the session ended, until the same user opens the form again in this document. In
 * memory only, and without passwords, codes, files and what is typed to confirm. The pages themselves are gone
 * meanwhile, as they may show what only a session may see.
 */
interface Draft {
  readonly user: string;
  readonly pathname: string;
  /** Title of the dialog, which names what it is about; empty: the form is part of the page. */
  readonly dialog: string;
  /** By label: text, or whether it is checked. */
  readonly values: Map<string, string | boolean>;
}

const drafts = new Set<Draft>();
/** Fields may appear when others are filled in, but not much later. */
const FILL_MS = 2000;

type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;
const isField = (part: Element): part is Field =>
  part instanceof HTMLInputElement || part instanceof HTMLTextAreaElement || part instanceof HTMLSelectElement;
const isKept = (field: Field): boolean =>
  !['password', 'file', 'hidden', 'search'].includes(field.type) &&
  !field.autocomplete.includes('password') &&
  field.autocomplete !== 'one-time-code' &&
  field.dataset.confirms === undefined &&
  !(field instanceof HTMLInputElement && field.readOnly);

const labelOf = (field: Field): string =>
  field.getAttribute('aria-label') ?? field.labels?.[0]?.textContent ?? field.name;
const isChecked = (field: Field): field is HTMLInputElement => field.type === 'checkbox' || field.type === 'radio';
const fieldsOf = (form: HTMLFormElement): Field[] => [...form.elements].filter(isField).filter(isKept);
function dialogOf(form: HTMLFormElement): string {
  const title = form.closest('[role="dialog"]')?.getAttribute('aria-labelledby') ?? '';
  return document.getElementById(title)?.textContent ?? '';
}

/** Keeps what is in the forms of the page. `userNow`: the id of the user who is signed in, or null. */
export function keepDrafts(userNow: () => string | null): void {
  const user = userNow();
  if (user === null) return;
  for (const form of document.forms) {
    const values = new Map(
      fieldsOf(form).map((field) => [labelOf(field), isChecked(field) ? field.checked : field.value]),
    );
    if (values.size > 0) drafts.add({ user, pathname: location.pathname, dialog: dialogOf(form), values });
  }
  // The forms that were kept are still there until the page of signing in is.
  left = false;
  if (drafts.size > 0) watch(userNow);
}

let left = false;
let watching = false;
function watch(userNow: () => string | null): void {
  if (watching) return;
  watching = true;
  const observer = new MutationObserver(() => {
    left ||= userNow() === null;
    if (!left || userNow() === null) return;
    for (const draft of drafts) {
      const form = [...document.forms].find((one) => isOf(one, draft));
      if (draft.user !== userNow()) drafts.delete(draft);
      else if (form && location.pathname === draft.pathname) fill(form, draft);
    }
    if (drafts.size > 0) return;
    observer.disconnect();
    watching = false;
  });
  observer.observe(document.body, { subtree: true, childList: true });
}

/** Forms of one page differ by the labels of their fields. */
const isOf = (form: HTMLFormElement, { dialog, values }: Draft): boolean =>
  dialogOf(form) === dialog && fieldsOf(form).some((field) => values.has(labelOf(field)));

function fill(form: HTMLFormElement, draft: Draft): void {
  setTimeout(() => drafts.delete(draft), FILL_MS);
  for (const field of fieldsOf(form)) {
    const label = labelOf(field);
    const value = draft.values.get(label);
    if (value === undefined) continue;
    draft.values.delete(label);
    if (isChecked(field)) {
      if (field.checked !== value && (field.type === 'checkbox' || value)) field.click();
    } else if (field.value !== value) {
      typeInto(field, value);
    }
  }
}

/** As if it was typed: React has its own setter on the element. */
export function typeInto(field: Field, value: string | boolean): void {
  Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), 'value')?.set?.call(field, value);
  field.dispatchEvent(new Event(field instanceof HTMLSelectElement ? 'change' : 'input', { bubbles: true }));
}
