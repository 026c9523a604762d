import { subscribedTo } from '../../domain/labels/labels.ts';
import { promoteLabel } from '../../domain/labels/promote.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { endpoint } from '../endpoint.ts';
import { groupLabel } from './present.ts';
import * as shapes from './shapes.ts';

export const promote = endpoint({
  method: 'PUT',
  path: '/projects/:id/labels/:name/promote',
  area: 'labels',
  summary: 'Promote a label of a project to a label of its group',
  description:
    "Labels with the same name in the group's other projects become this label too, soon afterwards.",
  access: project('admin_label'),
  params: () =>
    p.params({ name: p.string({ required: true, description: 'ID or URL-encoded name of the label' }) }),
  returns: { body: shapes.groupLabel },
  errors: [
    { status: 400, description: 'The project is in no group, or a group further above has the label' },
    { status: 403, description: 'The caller may not change labels of the group' },
    { status: 404, description: 'The project has no such label' },
  ],
  handle: async ({ actor, project, params }, deps) => {
    const { label, group } = await promoteLabel(deps, actor, project, params.name);
    const [subscribed] = await subscribedTo(deps, actor, group, [label]);
    return groupLabel(label, subscribed!);
  },
});
