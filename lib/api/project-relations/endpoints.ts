import { peopleEndpoints } from './people.ts';
import { shareEndpoints } from './shares.ts';

/** Shares, users and groups of a project. */
export const projectRelationEndpoints = [...shareEndpoints, ...peopleEndpoints];
