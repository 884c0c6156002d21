/**
 * Comments without a verb, such as "The download.", or whose only verb is that of a clause after a preposition, such as
 * "Of the account that pays.": `npm run house -- --fragments`.
 *
 * A rough test, without a grammar: a comment passes if it has a form that is nearly always a verb, or a word in -s
 * before an object ("counts the rows", "Writes what"). Samples, citations, `@tags` and headings without a period are no
 * prose.
 */
import { lineAt, type Source } from '../../tests/syntax.ts';

const VERBS = new Set(
  `answer append call came claim come comes counts covers decided declare doubles ended ends fitted happened labels learned limits lock match matched reply replies return returns run say settle share show signs stack sums use wait means mean opens sees shares sort stands start starts works yields is are was were be am been has have had do does did can cannot could may might must shall should will would ought
  don't doesn't isn't aren't can't won't let's
  accept accepts add adds admits agree agrees allow allows appear appears apply applies arrive arrives ask asks assume assumes
  awaits became become becomes began belong belongs believe believes bind binds bounds breaks bring brings carries carry
  cause causes choose chooses chose comes compare compares compute computes confirm confirms consist consists construct
  constructs contain contains continue continues contradict contradicts convert converts correspond corresponds create creates
  decide decides decodes define defines delete deletes denies depend depends describe describes determines differ differs
  disappear disappears displaces distinguish distinguishes divides encodes enforces ensure ensures erases exceed exceeds
  exclude excludes executes exist exists expect expects expires explain explains fail fails fell fetches finish finishes
  follow follows forbids forget forgets gave get gets give gives goes got grow grows happen happens helps identify
  identifies ignore ignores include includes infers inserts insist introduce introduces invent invents join joins keep keeps
  knew know knows lack lacks lasts lay lays learn learns leave leaves let lets listens lose loses made make makes
  meant merges misses negate negates obey occur occurs omit omits outlast outlives parses pay pays performs precedes prefer
  prefers prepares prevent prevents prove proves provides put puts reach reaches read receive receives recognize
  recognizes recover recovers refer refers refuse refuses relies rely remain remains remember remembers remove removes renders
  renews replace replaces require requires resolves restores revokes says see seem seems select selects send sends serve
  serves settles speak speaks spend spends stay stays stood succeed succeeds suffice suffices suggest suggests survive survives
  take takes tell tells terminates think threw throw throws took treat treats understand undoes uses validate validates vanish
  verifies waits want wants wins won write writes wrote`.split(/\s+/),
);
/** Verbs with which sentences begin, and which are nouns elsewhere. */
const OPENERS = new Set(
  `answers begins builds calls cancels changes charges checks cleans clears closes collects combines commits connects copies
  counts covers cuts derives draws drops ends escapes extends fills filters finds fits formats frees groups guards
  guesses handles hashes holds keep leads limits links lists loads locks logs looks maps marks masks matches measures migrates
  moves names opens orders packs pauses pins prints publishes pushes queries quotes ranks rates reads rejects releases
  repeats reports resets retries returns rolls rounds runs schedules searches shows signs skips slices sorts splits starts
  stops stores strips subscribes sums swaps switches tests trims tries turns unpacks updates use wakes walks warns watches
  works wraps`.split(/\s+/),
);
const OBJECT =
  /^(?:a|an|the|it|its|them|this|that|these|those|what|who|where|how|whether|no|nothing|all|each|every|one|our|only|as|if|to|at|once)$/;
const PREPOSITION =
  /^(?:above|across|after|against|among|at|before|behind|below|besides?|between|beyond|by|during|for|from|in|inside|of|on|outside|over|per|since|through|to|towards?|under|until|with|within|without)\b/i;
/** A clause inside of a sentence, whose verb is not that of the sentence. */
const SUBORDINATE =
  /\([^)]*\)|\b(?:that|which|who|whom|whose|what|where|when|while|if|because|unless|whether|how|once|since|as|than|until|before|after)\b[^,]*/gi;

/** `path:line text` of every comment without a verb. Comments stand on lines of their own. */
export function fragmentsIn(source: Source): string[] {
  return commentsOf(source.text)
    .filter(({ text, isHeading }) => !isHeading && isProse(text) && isFragment(text))
    .map(({ offset, text }) => `${source.path}:${lineAt(source.text, offset)} ${text}`);
}

function commentsOf(text: string): { offset: number; text: string; isHeading: boolean }[] {
  return [...text.matchAll(/^[ \t]*(?:\/\*\*(?:[^*]|\*(?!\/))*\*\/|\/\/ .*(?:\n[ \t]*\/\/ .*)*)/gm)].map((match) => ({
    offset: match.index + match[0].search(/\S/),
    isHeading: /^\s*\/\/.*[^.:;]$/.test(match[0]),
    text: match[0]
      .replace(/^\s*(?:\/\*\*|\*\/|\*|\/\/) ?|\s*\*\/$/gm, '')
      .replace(/\s+/g, ' ')
      .trim(),
  }));
}

const isProse = (text: string): boolean =>
  /[a-z]{2}/i.test(text.replace(/`[^`]*`|@\w.*|\bRFC \d+|\b[\w-]+[./]\S+/g, ''));

function isFragment(text: string): boolean {
  const sentences = text.replace(/`[^`]*`/g, 'X').split(/[.:;!?]\s|\.$/);
  const [first = ''] = sentences;
  return !sentences.some(hasVerb) || (PREPOSITION.test(first) && !hasVerb(first.replace(SUBORDINATE, '')));
}

function hasVerb(sentence: string): boolean {
  const words = sentence.split(/[^\w'-]+/).filter((word) => word !== '');
  return words.some((word, at) => {
    const next = words[at + 1] ?? '';
    return (
      VERBS.has(word.toLowerCase()) ||
      (/^(?:it|they|these)$/i.test(word) && /^[a-z]+$/.test(next)) ||
      (/[^su]s$/.test(word) && OBJECT.test(next)) ||
      (at === 0 && next !== '' && next !== 'of' && OPENERS.has(word.toLowerCase()))
    );
  });
}
