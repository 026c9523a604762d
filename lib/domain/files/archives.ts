import type { OtherContent } from '../../git/archive/entries.ts';
import { type ArchiveFormat, archive, type PlannedArchive } from '../../git/archive.ts';
import type { Oid } from '../../git/oid.ts';
import { shortName } from '../../git/refname.ts';
import { GitRepository } from '../../git/repository.ts';
import { LimitExceeded } from '../../git/work.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { ArchiveName, Download } from '../../store/blobs/downloads.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import { auditedResource, prepareAudited } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { notFound, tooLarge } from '../errors.ts';
import { contentOf, objectsOf } from '../lfs/archived.ts';
import { ARCHIVES, withinRate } from '../rate-limits/action-limits.ts';
import { subjectFor } from '../rate-limits/throttles.ts';
import { making } from '../repository/downloads.ts';
import { openRepository } from '../repository/open.ts';
import { rememberingLimits } from '../repository/remembered-limits.ts';
import { started } from '../started.ts';

export interface Archive {
  /** File name without extension; also the top-level directory in the archive. */
  readonly name: string;
  readonly content: Download;
}

export interface ArchiveWanted {
  /** Branch, tag or commit. Default: the default branch. */
  readonly ref?: string | undefined;
  readonly path?: string | undefined;
  readonly format: ArchiveFormat;
  /** A requested name without extension: `<project>-<ref>` leaves the commit out of the archive's name. */
  readonly fileName?: string | undefined;
  /** Client address, by which anonymous requests are counted. */
  readonly sourceIp: string;
  /** HEAD request: the archive is not made. */
  readonly headOnly?: boolean;
}

/**
 * Returns an archive of a repository at a commit. Pointers of Git LFS are replaced with the objects that the
 * project has. Copies are kept for some days by commit, path, name and format, and by these objects where there are pointers.
 * Each download is audited. For a whole repository the event is written at the start, in parallel with the first
 * reads, so an archive that turns out to be too large is audited too.
 *
 * @throws 429 above the setting `archive_download_limit`; `404 File Not Found` for an unknown revision or path; 413 for trees with
 *   too many entries, and for archives that are too large
 */
export async function downloadArchive(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  request: ArchiveWanted,
): Promise<Archive> {
  const { store } = deps;
  const { project, prefetched, hidesProposals } = access;
  const caller = subjectFor(actor, request.sourceIp);
  const repository = openRepository(deps, project, { prefetched, hidesProposals });
  const git = new GitRepository(repository);
  const event = request.headOnly ? undefined : started(prepareAudited(deps, actor));
  const [found, head] = await withinRate(deps, ARCHIVES, `${project.id} ${caller}`, () =>
    Promise.all([git.resolve(request.ref || 'HEAD'), request.ref ? undefined : git.headRef()]),
  );
  if (found === undefined) throw notFound('File');
  const { commit } = found;
  const ref = request.ref || shortName(head!.target);
  const path = (request.path ?? '').replace(/^\/+|\/+$/g, '');
  const short = [project.path, dashed(ref)];
  const named = request.fileName === short.join('-') ? short : [...short, commit];
  const parts = [...named, ...(path === '' ? [] : [dashed(path)])];
  const name = { commit, path, prefix: parts.join('-'), format: request.format };
  const recorded = async () => {
    if (event === undefined) return;
    const details = { custom_message: 'Repository Download Started' };
    await store.table.put((await event)({ entity: auditedResource('Project', project), details }));
  };

  // In parallel with the lookup of a copy: until its content is requested, it reads only trees and pointers.
  const question = ['archive', project.repositoryId, commit, path];
  const planned = started(rememberingLimits(question, () => archive(repository.store, name)));
  const recording = path === '' ? started(recorded()) : undefined;
  const copy = request.headOnly ? undefined : await store.downloads.get(project.repositoryId, name);
  if (copy !== undefined) {
    await (recording ?? recorded());
    return { name: name.prefix, content: copy };
  }
  try {
    const plan = await planned;
    if (plan === undefined) throw notFound('File');
    await (recording ?? recorded());
    const content = request.headOnly ? { body: plan.read() } : await makeArchive(deps, project, name, plan);
    return { name: name.prefix, content };
  } catch (error) {
    if (error instanceof LimitExceeded)
      throw tooLarge(`413 Request Entity Too Large: ${error.message}; clone instead`);
    throw error;
  }
}

/** Makes an archive of which no copy without pointers is kept. */
async function makeArchive(
  deps: Deps,
  project: ProjectRecord,
  name: ArchiveName,
  { pointers, read }: PlannedArchive,
): Promise<Download> {
  const { downloads } = deps.store;
  if (pointers.size === 0)
    return making((limits) => downloads.make(project.repositoryId, name, read(), limits));
  const objects = await objectsOf(deps, project, pointers.values());
  const named = { ...name, lfs: [...objects.keys()].sort() };
  const copy = await downloads.get(project.repositoryId, named);
  if (copy !== undefined) return copy;
  const others = new Map<Oid, OtherContent>();
  let bytes = 0;
  for (const [blob, { oid, files }] of pointers) {
    const object = objects.get(oid);
    if (object === undefined) continue;
    others.set(blob, contentOf(deps, object));
    bytes += object.size * files;
  }
  return making((limits) => downloads.make(project.repositoryId, named, read(others), limits), bytes);
}

const dashed = (text: string) => text.replaceAll('/', '-');
