const ONSETS = ['b', 'br', 'c', 'd', 'dr', 'f', 'g', 'h', 'j', 'k', 'kl', 'l', 'm', 'n', 'p', 'r', 's', 'st', 't', 'v'];
const VOWELS = ['a', 'e', 'i', 'o', 'u', 'ai', 'ea', 'ie'];
const CODAS = ['', '', '', 'l', 'n', 'r', 's', 'm'];

/** `random(n)`: a whole number, 0 ≤ x < n, of a cryptographically strong source. */
export type RandomBelow = (n: number) => number;

function syllables(count: number, random: RandomBelow): string {
  let text = '';
  for (let i = 0; i < count; i++) {
    text += ONSETS[random(ONSETS.length)]! + VOWELS[random(VOWELS.length)]! + CODAS[random(CODAS.length)]!;
  }
  return text;
}

/**
 * A local part that nobody has: `karosten.brilavean4821`. Given name, dot, surname, digits, 20 to 30 characters, which
 * the format rules of the large providers take (letters, digits and one dot, at most 30), so that a refusal is about
 * the mailbox. Seven syllables of about 9 bits and four digits: 70 bits and more, so a collision with a person, or with
 * an earlier probe, does not happen; and nothing in it tells a filter that it is a probe.
 */
export function randomLocalPart(random: RandomBelow): string {
  for (;;) {
    const digits = String(1000 + random(9000));
    const name = `${syllables(3, random)}.${syllables(4, random)}${digits}`;
    if (name.length >= 20 && name.length <= 30) return name;
  }
}
