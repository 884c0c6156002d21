/**
 * What axe-core says of a page. What runs in the page is written as text here: these sources know no DOM. It is evaluated
 * beside the page's own scripts, whose content policy stays on.
 */
import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

const STILL = `document.getAnimations().every(({ playState, effect }) =>
  playState !== 'running' || effect?.getComputedTiming().iterations === Infinity)`;

const TRIES = 100;
const PAUSE_MS = 50;

/** Waits until nothing moves any more, now and a moment later: colours halfway through a transition are nobody's design. */
export async function settled(page: Page): Promise<void> {
  // Asked from here: what polls inside the page would need `eval`, which its content policy forbids.
  for (let tries = 0, still = 0; still < 2; tries++) {
    if (tries > TRIES) throw new Error('The page does not come to rest.');
    still = (await page.evaluate<boolean>(STILL)) ? still + 1 : 0;
    await page.waitForTimeout(PAUSE_MS);
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
