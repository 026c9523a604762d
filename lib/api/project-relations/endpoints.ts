import { starEndpoints } from '../stars/endpoints.ts';
import { contentEndpoints } from '../statistics/endpoints.ts';
import { peopleEndpoints } from './people.ts';
import { shareEndpoints } from './shares.ts';

/** What a project has to do with people and groups, and what it is made of. */
export const projectRelationEndpoints = [
  ...starEndpoints,
  ...shareEndpoints,
  ...peopleEndpoints,
  ...contentEndpoints,
];
