import { accountEndpoints } from './accounts.ts';
import { followEndpoints } from './follows.ts';
import { list } from './list.ts';
import { overviewEndpoints } from './overview.ts';
import { selfEndpoints } from './self.ts';
import { stateEndpoints } from './states.ts';

export const userEndpoints = [
  ...selfEndpoints,
  list,
  ...overviewEndpoints,
  ...accountEndpoints,
  ...stateEndpoints,
  ...followEndpoints,
];
