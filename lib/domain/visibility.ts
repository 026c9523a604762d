import type { Visibility } from '../store/records.ts';

const RANK: Record<Visibility, number> = { private: 0, internal: 1, public: 2 };

/** Whether fewer people see what has `a` than what has `b`. */
export const isBelow = (a: Visibility, b: Visibility): boolean => RANK[a] < RANK[b];

export const lower = (a: Visibility, b: Visibility): Visibility => (isBelow(a, b) ? a : b);
