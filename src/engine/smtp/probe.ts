const ONSETS = ['b', 'br', 'c', 'd', 'dr', 'f', 'g', 'h', 'j', 'k', 'kl', 'l', 'm', 'n', 'p', 'r', 's', 'st', 't', 'v'];
const VOWELS = ['a', 'e', 'i', 'o', 'u', 'ai', 'ea', 'ie'];
const CODAS = ['', '', '', 'l', 'n', 'r', 's', 'm'];

/** `random(n)`: an integer, 0 ≤ x < n, from a cryptographically secure source. */
export type RandomBelow = (n: number) => number;

function syllables(count: number, random: RandomBelow): string {
  let text = '';
  for (let i = 0; i < count; i++) {
    for (const sounds of [ONSETS, VOWELS, CODAS]) text += sounds[random(sounds.length)] ?? '';
  }
  return text;
}

/**
 * A random local part that does not exist: `karosten.brilavean4821`. Given name, dot, surname, digits, 20 to 30
 * characters: valid under the format rules of the large providers (letters, digits and one dot, at most 30), so that a
 * rejection is about the mailbox. Seven syllables of about 9 bits plus four digits give over 70 bits, so collisions
 * with real mailboxes or earlier probes do not happen, and filters cannot recognize it as a probe.
 */
export function randomLocalPart(random: RandomBelow): string {
  for (;;) {
    const digits = String(1000 + random(9000));
    const name = `${syllables(3, random)}.${syllables(4, random)}${digits}`;
    if (name.length >= 20 && name.length <= 30) return name;
  }
}
