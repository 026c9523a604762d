import type { MentionSource } from '../../records/notes.ts';
import type { ContainerAccess } from '../labels/containers.ts';

/** A project or group, by its path. */
export interface Place {
  readonly kind: 'project' | 'group';
  readonly fullPath: string;
}

/**
 * What a source is called in a text elsewhere: `issue #1`, `merge request !1`, `epic &1`, `project snippet $1`,
 * `commit <id>`, with the path of its project where that is another, in full where the namespace is another too. An epic
 * has the path of its group, where neither that nor a project in it is beside.
 * @param at the project of the source, the group of an epic
 */
export function nameOf(source: MentionSource, at: Place, beside: Place): string {
  const { fullPath } = at;
  const isNear = namespaceOf(at) === namespaceOf(beside);
  if (source.kind === 'epic') return `epic ${isNear ? '' : fullPath}&${source.iid}`;
  const place =
    fullPath === beside.fullPath ? '' : isNear ? fullPath.slice(fullPath.lastIndexOf('/') + 1) : fullPath;
  if (source.kind === 'issue') return `issue ${place}#${source.iid}`;
  if (source.kind === 'merge-request') return `merge request ${place}!${source.iid}`;
  if (source.kind === 'snippet') return `project snippet ${place}$${source.id}`;
  return `commit ${place === '' ? '' : `${place}@`}${source.sha}`;
}

const namespaceOf = ({ kind, fullPath }: Place): string =>
  kind === 'group' ? fullPath : fullPath.slice(0, fullPath.lastIndexOf('/'));

export const placeAt = (access: ContainerAccess): Place =>
  'project' in access
    ? { kind: 'project', fullPath: access.project.fullPath }
    : { kind: 'group', fullPath: access.group.fullPath };
