import type { ProjectRecord } from '../../records/projects.ts';
import { LimitReached, Missing, NameTaken, Stale } from '../../store/errors.ts';
import { settleMessage } from '../../store/labels/settle.ts';
import { scheduleMeasuring } from '../../store/statistics/statistics.ts';
import { canInGroup } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import { type Actor, isAdministrator } from '../actor.ts';
import { resourceMoved } from '../audit-events/setting-changes.ts';
import type { Deps } from '../deps.ts';
import { notFound, refused } from '../errors.ts';
import { unlinkMessages } from '../forks/visibility.ts';
import { projectEvent } from '../hook-events/records.ts';
import { tellHooks } from '../hook-events/tell.ts';
import { boundBy, type Namespace, namespaceId, placeIn, visibleNamespace } from '../namespaces/place.ts';
import { limitProblem } from '../namespaces/project-limit.ts';
import { movedProjectMail } from '../notifications/enqueue.ts';
import { inRuby } from '../ruby-notation.ts';
import { lower } from '../visibility.ts';
import { projectChangeError } from './update.ts';

type User = Extract<Actor, { kind: 'user' }>;

/**
 * Returns the target namespace of a transfer, if the actor can see it; for administrators any.
 * @throws 404 `404 Namespace Not Found`
 */
export async function namespaceToMoveTo(
  deps: Deps,
  actor: User,
  idOrPath: string | number,
): Promise<Namespace> {
  const visible = await visibleNamespace(deps, actor, idOrPath);
  if (visible !== undefined) return visible;
  const owner = isAdministrator(actor) ? await deps.store.users.byUsername(String(idOrPath)) : undefined;
  if (owner === undefined) throw notFound('Namespace');
  return { kind: 'user', owner };
}

/**
 * Moves a project into another namespace. Its visibility is limited by that of the group; its former path redirects.
 * @throws 400 `Failed to transfer project {...}`, 409 when one of them changed concurrently
 */
export async function transferProject(
  deps: Deps,
  actor: User,
  { project }: ProjectAccess,
  namespace: Namespace,
): Promise<ProjectRecord> {
  if (namespaceId(namespace) === project.namespaceId) throw failed('Project is already in this namespace.');
  if (!mayPutInto(actor, namespace))
    throw failed("You don't have permission to transfer projects into that namespace.");
  const visibility =
    namespace.kind === 'user'
      ? project.visibility
      : lower(project.visibility, namespace.access.group.visibility);
  const owner = namespace.kind === 'user' ? namespace.owner : actor.user;
  const place = placeIn(namespace, owner);
  const fullPath = `${place.namespacePath}/${project.path}`;
  const events = await resourceMoved(deps, actor, 'Project', project, { ...project, fullPath, visibility });
  try {
    return await deps.store.projects.transfer(
      project,
      { place, ...boundBy(namespace) },
      { visibility },
      {
        now: deps.now(),
        messages: [
          ...unlinkMessages(deps, actor, project, visibility),
          movedProjectMail(deps, actor, project),
          settleMessage(project.id),
          ...(await tellHooks(deps, actor, { kind: 'system' }, [
            projectEvent('transfer', { ...project, ...place, fullPath, visibility }, project.fullPath),
          ])),
        ],
        // Its storage counts for the new group.
        alongside: [scheduleMeasuring(project.id, deps.now()), ...events],
      },
    );
  } catch (error) {
    if (error instanceof NameTaken)
      throw failed('Project with same name or path in target namespace already exists');
    if (error instanceof LimitReached) throw failed(limitProblem(error.limit));
    throw projectChangeError(error instanceof Missing ? new Stale('project') : error);
  }
}

const mayPutInto = (actor: User, namespace: Namespace): boolean =>
  namespace.kind === 'user'
    ? namespace.owner.id === actor.user.id || isAdministrator(actor)
    : canInGroup(actor, namespace.access, 'create_projects');

const failed = (why: string) => refused(`Failed to transfer project ${inRuby({ new_namespace: [why] })}`);
