import type { MentionSource } from '../../records/notes.ts';
import type { ProjectRecord } from '../../records/projects.ts';

/**
 * What a source is called in a text of another project: `issue #1`, `merge request !1`, `project snippet $1`, `commit <id>`,
 * with the path of its project where that is another, in full where the namespace is another too.
 */
export function nameOf(
  source: MentionSource,
  { id, fullPath }: ProjectRecord,
  beside: ProjectRecord,
): string {
  const place =
    id === beside.id
      ? ''
      : namespaceOf(fullPath) === namespaceOf(beside.fullPath)
        ? lastOf(fullPath)
        : fullPath;
  if (source.kind === 'issue') return `issue ${place}#${source.iid}`;
  if (source.kind === 'merge-request') return `merge request ${place}!${source.iid}`;
  if (source.kind === 'snippet') return `project snippet ${place}$${source.id}`;
  return `commit ${place === '' ? '' : `${place}@`}${source.sha}`;
}

const namespaceOf = (path: string): string => path.slice(0, path.lastIndexOf('/'));
const lastOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
