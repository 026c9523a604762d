/**
 * Refs that the service makes and no client may: a push to them is refused as one to hidden refs. Some lead to what
 * clients like to fetch, such as a merge request's head; the others are not shown, nor is what only they reach.
 */
import type { Visibility } from '../../git/wire/visible.ts';

const SHOWN = ['refs/environments/', 'refs/merge-requests/', 'refs/pipelines/'];
const HIDDEN = ['refs/keep-around/', 'refs/remotes/', 'refs/tmp/'];

export const isFetchable: Visibility = (name) => !HIDDEN.some((prefix) => name.startsWith(prefix));

export const isPushable: Visibility = (name) =>
  isFetchable(name) && !SHOWN.some((prefix) => name.startsWith(prefix));
