/**
 * Refs that only the service creates; pushes to them are refused as to hidden refs. Some can be fetched, such as the
 * head of a merge request; the others, and the objects that only they reach, are hidden.
 */
import type { Visibility } from '../../git/wire/visible.ts';

const SHOWN = ['refs/environments/', 'refs/merge-requests/', 'refs/pipelines/'];
const HIDDEN = ['refs/keep-around/', 'refs/remotes/', 'refs/tmp/'];

export const isFetchable: Visibility = (name) => !HIDDEN.some((prefix) => name.startsWith(prefix));

export const isPushable: Visibility = (name) =>
  isFetchable(name) && !SHOWN.some((prefix) => name.startsWith(prefix));
