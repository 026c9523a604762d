import type { EpicRecord } from '../../records/epics.ts';
import type { Viewer } from '../actor.ts';
import { canInGroup } from './permissions.ts';
import type { GroupAccess } from './types.ts';

/** Whether the viewer may know of the epic. Those who may not are told that there is none. */
export function maySeeEpic(
  viewer: Viewer,
  access: GroupAccess,
  { confidential, author }: Pick<EpicRecord, 'confidential' | 'author'>,
): boolean {
  if (!canInGroup(viewer, access, 'read_group')) return false;
  if (!confidential || canInGroup(viewer, access, 'read_confidential_epics')) return true;
  return viewer.kind === 'user' && author.id === viewer.user.id;
}
