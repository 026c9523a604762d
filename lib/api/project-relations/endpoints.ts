import { starEndpoints } from '../stars/endpoints.ts';
import { contentEndpoints } from '../statistics/endpoints.ts';
import { peopleEndpoints } from './people.ts';
import { shareEndpoints } from './shares.ts';

/** Stars, shares, users, groups, languages and storage of a project. */
export const projectRelationEndpoints = [
  ...starEndpoints,
  ...shareEndpoints,
  ...peopleEndpoints,
  ...contentEndpoints,
];
