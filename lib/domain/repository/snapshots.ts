import { snapshotOf } from '../../git/snapshot.ts';
import type { Download } from '../../store/blobs/downloads.ts';
import type { ProjectAccess } from '../access/types.ts';
import { type Actor, isAdministrator } from '../actor.ts';
import { auditedResource, prepareAudited } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { forbidden } from '../errors.ts';
import { started } from '../started.ts';
import { making } from './downloads.ts';
import { openRepository } from './open.ts';

/**
 * Returns a repository as a tape archive of a bare repository. A copy of a large one is kept for some days, and used
 * while no ref and no pack changes. Each download is audited.
 * @param headOnly HEAD request: the archive is not made
 * @throws 403 unless for administrators; 413
 */
export async function downloadSnapshot(
  deps: Deps,
  actor: Actor,
  { project }: ProjectAccess,
  headOnly: boolean,
): Promise<Download> {
  if (!isAdministrator(actor)) throw forbidden();
  if (headOnly) return { body: nothing() };
  const { downloads, table } = deps.store;
  const event = started(prepareAudited(deps, actor));
  const snapshot = await snapshotOf(openRepository(deps, project), Math.floor(deps.now().getTime() / 1000));
  const details = { custom_message: 'Repository Snapshot Download Started' };
  await table.put((await event)({ entity: auditedResource('Project', project), details }));
  const name = { snapshot: snapshot.id };
  return (
    (await downloads.get(project.repositoryId, name)) ??
    making((limits) => downloads.make(project.repositoryId, name, snapshot.content(), limits), snapshot.size)
  );
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
