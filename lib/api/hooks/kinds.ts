/** What the endpoints of hooks of projects, of groups and of the instance differ in. */
import type { HookPlace } from '../../domain/hooks/hooks.ts';
import { administrator, group, project } from '../../http/access.ts';

export const area = 'hooks';
export const absent = { status: 404, description: 'There is no such hook' };

export const HOOKS_OF = [
  {
    path: '/projects/:id/hooks',
    of: 'a project',
    access: project('admin_hooks'),
    param: 'hook_id',
    system: false,
  },
  { path: '/groups/:id/hooks', of: 'a group', access: group('admin_hooks'), param: 'hook_id', system: false },
  { path: '/hooks', of: 'the instance', access: administrator(), param: 'id', system: true },
] as const;

/** The context of a request about hooks of a project, of a group, or of the instance. */
interface About {
  readonly project?: { readonly project: Extract<HookPlace, { kind: 'project' }>['project'] };
  readonly group?: { readonly group: Extract<HookPlace, { kind: 'group' }>['group'] };
}
export const placeOf = (context: object): HookPlace => {
  const { project, group } = context as About;
  if (project !== undefined) return { kind: 'project', project: project.project };
  return group === undefined ? { kind: 'system' } : { kind: 'group', group: group.group };
};
