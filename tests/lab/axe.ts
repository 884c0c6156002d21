/**
 * Runs axe-core on a page. The code for the page is text, because these sources are compiled without DOM types. It is
 * evaluated outside the page's content security policy, which stays on.
 */
import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

/** Frames, of a sixtieth of a second each, without an animation until the page counts as being at rest; and to try. */
const STILL_FRAMES = 3;
const MOST_FRAMES = 600;

/** Runs in the page, which `waitForFunction` cannot: it needs `eval`, which the content security policy forbids. */
const REST = `new Promise((resolve) => {
  const isStill = () => document.querySelector('[data-first-view]') === null &&
    document.getAnimations().every(({ playState, effect }) =>
      playState !== 'running' || effect?.getComputedTiming().iterations === Infinity);
  const look = (frames, still) => {
    if (still === ${STILL_FRAMES} || frames === ${MOST_FRAMES}) resolve(still === ${STILL_FRAMES});
    else requestAnimationFrame(() => look(frames + 1, isStill() ? still + 1 : 0));
  };
  look(0, 0);
})`;

/**
 * Waits until the page reacts, and all animations have ended, because colors in the middle of a transition may lack
 * contrast.
 */
export async function settled(page: Page): Promise<void> {
  if (!(await page.evaluate<boolean>(REST))) throw new Error('The page does not come to rest.');
}

/** Of axe-core: all that it runs by default, or those of them that depend on colors. */
type Rules = 'all' | 'colors';

const OF_COLORS = { runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } };

/** What is looked at: the document, or, where a dialog, a drawer or a menu is open, only that. */
export type Part = 'document' | 'overlay';

/** Code for the page: the dialogs, drawers and menus that are open. */
export const OPEN = `[...document.querySelectorAll('[role="dialog"], [role="menu"], [data-drawer]')]
  .filter((one) => one.checkVisibility())`;

const PARTS: Readonly<Record<Part, string>> = {
  document: 'document',
  overlay: `((open) => open.length > 0 ? { include: open } : document)(${OPEN})`,
};

/** The violations as text: rule, requirement and location. */
export async function violations(page: Page, rules: Rules = 'all', part: Part = 'document'): Promise<string[]> {
  await settled(page);
  if (!(await page.evaluate<boolean>(`'axe' in window`))) await page.evaluate(axe.source);
  const options = { resultTypes: ['violations'], preload: false, ...(rules === 'colors' ? OF_COLORS : {}) };
  const result: AxeResults = await page.evaluate(`axe.run(${PARTS[part]}, ${JSON.stringify(options)})`);
  return result.violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id} at ${node.target.join(' ')}: ${node.failureSummary ?? ''} ${node.html.slice(0, 200)}`),
  );
}
