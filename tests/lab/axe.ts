/**
 * Runs axe-core on a page. The code for the page is text, because these sources are compiled without DOM types. It is
 * evaluated outside the page's content security policy, which stays on.
 */
import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

const STILL = `document.getAnimations().every(({ playState, effect }) =>
  playState !== 'running' || effect?.getComputedTiming().iterations === Infinity)`;

const TRIES = 100;
const PAUSE_MS = 50;

/** Waits until all animations have ended, because colors in the middle of a transition may lack contrast. */
export async function settled(page: Page): Promise<void> {
  // Polls from here: polling inside the page would need `eval`, which its content security policy forbids.
  for (let tries = 0, still = 0; still < 2; tries++) {
    if (tries > TRIES) throw new Error('The page does not come to rest.');
    still = (await page.evaluate<boolean>(STILL)) ? still + 1 : 0;
    await page.waitForTimeout(PAUSE_MS);
  }
}

/** Of axe-core: all that it runs by default, or those of them that depend on colors. */
type Rules = 'all' | 'colors';

const OF_COLORS = { runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } };

/** The violations as text: rule, requirement and location. */
export async function violations(page: Page, rules: Rules = 'all'): Promise<string[]> {
  await settled(page);
  await page.evaluate(axe.source);
  const options = { resultTypes: ['violations'], preload: false, ...(rules === 'colors' ? OF_COLORS : {}) };
  const result: AxeResults = await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`);
  return result.violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id} at ${node.target.join(' ')}: ${node.failureSummary ?? ''} ${node.html.slice(0, 200)}`),
  );
}
