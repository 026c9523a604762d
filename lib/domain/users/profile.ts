/** Profile and preferences of accounts; most attributes are only stored and shown. */

import type { FieldProblems } from '../errors.ts';

export { identitiesOf } from '../../store/users/item.ts';

const THEMES = 11;
const COLOR_SCHEMES = 6;

/** Problems of the parameters that are given; addresses are {@link ownedEmailProblems}'. */
export function profileProblems(profile: Readonly<Record<string, unknown>>): FieldProblems {
  const { website_url: url, theme_id: theme, color_scheme_id: scheme } = profile;
  const outside = (value: unknown, most: number) =>
    typeof value === 'number' && (value < 1 || value > most) ? ['is not included in the list'] : [];
  return {
    website_url: typeof url === 'string' && url !== '' && !isWebAddress(url) ? ['is not a valid URL'] : [],
    theme_id: outside(theme, THEMES),
    color_scheme_id: outside(scheme, COLOR_SCHEMES),
  };
}

/** Other users click on it, so only HTTP and HTTPS are allowed. */
function isWebAddress(text: string): boolean {
  const address = /^[a-z][a-z\d+.-]*:/i.test(text) ? text : `https://${text}`;
  return /^https?:\/\//i.test(address) && URL.canParse(address);
}

/** Returns problems of an address that an account claims as its own; empty clears it. */
export const ownedEmailProblems = (given: unknown, owned: (address: string) => boolean): string[] =>
  typeof given !== 'string' || given === '' || owned(given) ? [] : ['is not an email you own'];
