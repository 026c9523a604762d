import { remover as accessRequests } from '../access-requests/remover.ts';
import { remover as customAttributes } from '../custom-attributes/remover.ts';
import { remover as emails } from '../emails/remover.ts';
import { remover as events } from '../events/remover.ts';
import { remover as forks } from '../forks/remover.ts';
import { remover as groups } from '../groups/remover.ts';
import { remover as invitations } from '../invitations/remover.ts';
import { remover as keys } from '../keys/remover.ts';
import { remover as members } from '../members/remover.ts';
import { remover as notes } from '../notes/remover.ts';
import { remover as notifications } from '../notifications/remover.ts';
import { remover as pipelines } from '../pipelines/remover.ts';
import { remover as placement } from '../placement/remover.ts';
import { remover as projectRelations } from '../project-relations/remover.ts';
import { remover as projects } from '../projects/remover.ts';
import { remover as rateLimits } from '../rate-limits/remover.ts';
import { remover as refs } from '../refs/remover.ts';
import { remover as repository } from '../repository/remover.ts';
import { remover as runners } from '../runners/remover.ts';
import { remover as scim } from '../scim/remover.ts';
import { remover as search } from '../search/remover.ts';
import { remover as stars } from '../stars/remover.ts';
import { remover as statistics } from '../statistics/remover.ts';
import type { Store } from '../store.ts';
import { remover as tokens } from '../tokens/remover.ts';
import { remover as users } from '../users/remover.ts';
import type { Remover } from './remover.ts';

/** The removers of all subjects, in the order in which they run: a line for each subject. */
export const removers: readonly Remover<Store>[] = [
  // First what gives access.
  members,
  tokens,
  accessRequests,
  invitations,
  scim,
  notifications,
  projectRelations,
  groups,
  statistics,
  runners,
  stars,
  refs,
  // Events lead to notes.
  events,
  notes,
  pipelines,
  forks,
  customAttributes,
  keys,
  emails,
  rateLimits,
  // Rows under a group lead those above to the shares that they end.
  placement,
  // Rows under a user lead to what keys and e-mail addresses claim.
  users,
  repository,
  // Last, so that an interrupted removal is still found by what is left.
  search,
  projects,
];
