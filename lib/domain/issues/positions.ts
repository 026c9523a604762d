/**
 * Positions in the order that people arrange by hand: texts, compared by their characters. There is always one between
 * two different ones, so that an issue is put between two others without moving these. An issue that nobody has moved
 * stands at the time of its creation.
 */

/** Characters. A position that would be longer is shortened by giving its neighbours other ones too. */
export const MAX_POSITION = 200;
/** Issues on each side that are given other positions then; a transaction has 100 items. */
export const MOVED_ALONG = 20;

/** Whether a place is already between two others; undefined: there is nothing on that side. */
export const isBetween = (place: string, low: string | undefined, high: string | undefined): boolean =>
  (low === undefined || low < place) && (high === undefined || place < high);

/** Characters of positions made here: the digits and letters of ASCII with what is between them. */
const [LOWEST, HIGHEST] = ['0'.charCodeAt(0), 'z'.charCodeAt(0)];

/**
 * Returns a short text between two others; it never ends in the lowest character, below which there would be nothing.
 * @param low a text of ASCII characters from `#` to `z`; undefined: there is no bound
 * @param high greater than `low`, and, as it begins with `low`, nothing that ends in the lowest character
 */
export function between(low: string | undefined, high: string | undefined): string {
  let made = '';
  for (let at = 0, below = low, above = high; ; at++) {
    // Undefined: below every character, above every character.
    const from = below === undefined || at >= below.length ? LOWEST - 1 : below.charCodeAt(at);
    const to = above === undefined || at >= above.length ? HIGHEST + 1 : above.charCodeAt(at);
    const lowest = Math.max(from + 1, LOWEST);
    const highest = Math.min(to - 1, HIGHEST);
    // The lowest character may be followed by others, and cannot be the last.
    if (highest >= lowest && highest > LOWEST) {
      const middle = Math.max((lowest + highest) >> 1, LOWEST + 1);
      return made + String.fromCharCode(middle);
    }
    if (from >= LOWEST || (below !== undefined && at < below.length)) {
      made += String.fromCharCode(from);
      if (from !== to) above = undefined;
    } else {
      made += String.fromCharCode(Math.min(to, LOWEST));
      if (to > LOWEST) above = undefined;
      below = undefined;
    }
  }
}

/** Returns so many texts between two others, in order and evenly. @param low, high as {@link between} takes them */
export function spread(low: string | undefined, high: string | undefined, count: number): string[] {
  if (count === 0) return [];
  const middle = between(low, high);
  const before = Math.floor((count - 1) / 2);
  return [...spread(low, middle, before), middle, ...spread(middle, high, count - 1 - before)];
}
