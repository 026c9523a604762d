import { snapshotOf } from '../../git/snapshot.ts';
import { repositoryIdOf } from '../../records/repository-owner.ts';
import type { Download } from '../../store/blobs/downloads.ts';
import type { ProjectAccess } from '../access/types.ts';
import { type Actor, isAdministrator } from '../actor.ts';
import { auditedResource, prepareAudited } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { forbidden } from '../errors.ts';
import { started } from '../started.ts';
import { making } from './downloads.ts';
import { openLazyRepository } from './lazy.ts';
import { openRepository } from './open.ts';

/**
 * Returns the repository of a project, or that of its wiki, as a tape archive of a bare repository. A copy of a large one
 * is kept for some days, and used while no ref and no pack changes. Each download is audited.
 * @param headOnly HEAD request: the archive is not made
 * @throws 403 unless for administrators; 413
 */
export async function downloadSnapshot(
  deps: Deps,
  actor: Actor,
  { project }: ProjectAccess,
  { wiki, headOnly }: { readonly wiki: boolean; readonly headOnly: boolean },
): Promise<Download> {
  if (!isAdministrator(actor)) throw forbidden();
  if (headOnly) return { body: nothing() };
  const { downloads, table } = deps.store;
  const event = started(prepareAudited(deps, actor));
  const owner = { kind: 'project-wiki', id: project.id } as const;
  const { storagePrefix } = project;
  const repository = wiki
    ? openLazyRepository(deps, owner, { storagePrefix })
    : openRepository(deps, project);
  const repositoryId = wiki ? repositoryIdOf(owner) : project.repositoryId;
  const snapshot = await snapshotOf(repository, Math.floor(deps.now().getTime() / 1000));
  const details = { custom_message: 'Repository Snapshot Download Started' };
  await table.put((await event)({ entity: auditedResource('Project', project), details }));
  const name = { snapshot: snapshot.id };
  return (
    (await downloads.get(repositoryId, name)) ??
    making((limits) => downloads.make(repositoryId, name, snapshot.content(), limits), snapshot.size)
  );
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
