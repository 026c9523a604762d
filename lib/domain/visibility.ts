import { VISIBILITIES, type Visibility } from '../records/visibility.ts';

/** Whether visibility `a` is more restrictive than `b`. */
export const isBelow = (a: Visibility, b: Visibility): boolean =>
  VISIBILITIES.indexOf(a) < VISIBILITIES.indexOf(b);

export const lower = (a: Visibility, b: Visibility): Visibility => (isBelow(a, b) ? a : b);
