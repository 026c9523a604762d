/** From the least to the most visible. */
export const VISIBILITIES = ['private', 'internal', 'public'] as const;

export type Visibility = (typeof VISIBILITIES)[number];
