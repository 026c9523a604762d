/**
 * Refs that only the service creates; pushes to them are refused as to hidden refs. Some can be fetched, such as the
 * head of a merge request; the others, and the objects that only they reach, are hidden.
 */
import type { Visibility } from '../../git/wire/visible.ts';

/** What merge requests propose, and their merges. */
const PROPOSALS = 'refs/merge-requests/';
const SHOWN = ['refs/environments/', PROPOSALS, 'refs/pipelines/'];
const HIDDEN = ['refs/keep-around/', 'refs/remotes/', 'refs/tmp/'];

export const isFetchable: Visibility = (name) => !HIDDEN.some((prefix) => name.startsWith(prefix));

export const isPushable: Visibility = (name) =>
  isFetchable(name) && !SHOWN.some((prefix) => name.startsWith(prefix));

/** Without the refs that are for those who see merge requests. */
export const besideProposals: Visibility = (name) => !name.startsWith(PROPOSALS);
