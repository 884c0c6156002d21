/**
 * What axe-core says of a page. What runs in the page is written as text here: these sources know no DOM. It is evaluated
 * beside the page's own scripts, whose content policy stays on.
 */
import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

const STILL = `document.getAnimations().every(({ playState, effect }) =>
  playState !== 'running' || effect?.getComputedTiming().iterations === Infinity)`;

/** Waits until nothing moves any more: colours halfway through a transition are nobody's design. */
export async function settled(page: Page): Promise<void> {
  // Asked from here: what polls inside the page would need `eval`, which its content policy forbids.
  for (let tries = 0; !(await page.evaluate<boolean>(STILL)); tries++) {
    if (tries > 100) throw new Error('The page does not come to rest.');
    await page.waitForTimeout(50);
  }
}

/** Every violation in words: the rule, what it asks for, and where. */
export async function violations(page: Page): Promise<string[]> {
  await settled(page);
  await page.evaluate(axe.source);
  const result: AxeResults = await page.evaluate(`axe.run(document, { resultTypes: ['violations'], preload: false })`);
  return result.violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id} at ${node.target.join(' ')}: ${node.failureSummary ?? ''} ${node.html.slice(0, 200)}`),
  );
}
