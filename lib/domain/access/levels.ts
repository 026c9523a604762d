import type { AccessLevel } from '../../records/members.ts';

export const GUEST = 10 satisfies AccessLevel;
export const REPORTER = 20 satisfies AccessLevel;
export const DEVELOPER = 30 satisfies AccessLevel;
export const MAINTAINER = 40 satisfies AccessLevel;
export const OWNER = 50 satisfies AccessLevel;

export const LEVEL_NAMES = {
  10: 'Guest',
  20: 'Reporter',
  30: 'Developer',
  40: 'Maintainer',
  50: 'Owner',
} as const;
