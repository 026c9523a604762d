import { botTokenEndpoints } from './bots.ts';
import { deployTokenEndpoints } from './deploy.ts';
import { impersonationTokenEndpoints } from './impersonation.ts';
import { personalTokenEndpoints } from './personal.ts';

export const tokenEndpoints = [
  ...personalTokenEndpoints,
  ...impersonationTokenEndpoints,
  ...botTokenEndpoints,
  ...deployTokenEndpoints,
];
