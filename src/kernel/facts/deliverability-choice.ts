/** Several deliverabilities in one text, as the API, the command and the dashboard take them. */
import { DELIVERABILITIES, type Deliverability } from './reasons.ts';

const isDeliverability = (text: string): text is Deliverability => DELIVERABILITIES.some((one) => one === text);

/**
 * `deliverable,risky`: those; `!undeliverable`: all but that one. In the order of DELIVERABILITIES; null: it is no such
 * text, or leaves none.
 */
export function deliverabilitiesIn(text: string): readonly Deliverability[] | null {
  const [wanted, unwanted] = [new Set<Deliverability>(), new Set<Deliverability>()];
  for (const word of text.split(',').map((part) => part.trim())) {
    const name = word.replace(/^!/, '');
    if (!isDeliverability(name)) return null;
    (name === word ? wanted : unwanted).add(name);
  }
  const chosen = DELIVERABILITIES.filter((one) => (wanted.size === 0 || wanted.has(one)) && !unwanted.has(one));
  return chosen.length === 0 ? null : chosen;
}
