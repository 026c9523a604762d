/** Colors of labels. */

/** The color of labels that are created by their title alone. */
export const DEFAULT_COLOR = '#6699cc';

/** @param text `#` with three or six hexadecimal digits, or a name of CSS. @returns the digits; undefined if it is neither */
export async function colorOf(text: string): Promise<string | undefined> {
  const color = text.trim();
  if (/^#(?:[0-9a-f]{3}){1,2}$/i.test(color)) return color;
  // Loaded on demand: of the functions that show labels, few requests name a color.
  const { NAMED } = await import('./named-colors.ts');
  const named = NAMED.get(color.toLowerCase());
  return named === undefined ? undefined : `#${named}`;
}

/** Returns the color that is readable on a background. @param color as {@link colorOf} returns it */
export function textColorOn(color: string): '#FFFFFF' | '#333333' {
  const digits = color.slice(1);
  const parts = digits.length === 3 ? [...digits].map((digit) => digit + digit) : digits.match(/../g)!;
  const brightness = parts.reduce((sum, part) => sum + Number.parseInt(part, 16), 0);
  return brightness > BRIGHT ? '#333333' : '#FFFFFF';
}

/** Sum of red, green and blue above which a background counts as bright. */
const BRIGHT = 500;
