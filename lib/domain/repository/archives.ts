import { type ArchiveFormat, archive } from '../../git/archive.ts';
import { CorruptData } from '../../git/corrupt-data.ts';
import { shortName } from '../../git/refname.ts';
import { GitRepository } from '../../git/repository.ts';
import type { RateLimit } from '../../store/rate-limits/rate-limits.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import { auditedResource, auditing } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { notFound, tooLarge, tooManyRequests } from '../errors.ts';
import { subjectFor } from '../rate-limits/throttles.ts';
import { started } from '../started.ts';
import { openRepository } from './open.ts';

export interface Download {
  /** Without an extension; also the directory that everything in the archive is in. */
  readonly name: string;
  readonly body: AsyncIterable<Uint8Array>;
}

export interface DownloadRequest {
  /** Branch, tag or commit; the default branch when absent. */
  readonly ref?: string | undefined;
  readonly path?: string | undefined;
  readonly format: ArchiveFormat;
  /** Where an anonymous request comes from. */
  readonly sourceIp: string;
  /** Only asks what a download would be: nothing of it is sent. */
  readonly headOnly?: boolean;
}

/** Per user, or address, and project. */
const LIMIT: RateLimit = { kind: 'archive', limit: 5, seconds: 60 };

/**
 * What a repository holds at a commit, as one file. Made once for each commit, path, name and format, and kept for
 * some days. What is sent is recorded; of a whole repository as it begins, which costs no round trip, so that one which
 * turns out too large is recorded too.
 *
 * @throws 429 for more than five a minute; `404 File Not Found` for what is no revision or path; 413 for trees with
 *   more members than an archive may have
 */
export async function downloadArchive(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  request: DownloadRequest,
): Promise<Download> {
  const { store } = deps;
  const { project, prefetched } = access;
  const who = subjectFor(actor, request.sourceIp);
  const repository = openRepository(deps, project, { prefetched });
  const git = new GitRepository(repository);
  const event = request.headOnly ? undefined : started(auditing(deps, actor));
  const finding = started(
    Promise.all([git.resolve(request.ref || 'HEAD'), request.ref ? undefined : git.headRef()]),
  );
  if (!(await store.rateLimits.take(LIMIT, `${project.id} ${who}`, deps.now()))) {
    throw tooManyRequests('This archive has been requested too many times. Try again later.');
  }
  const [found, head] = await finding;
  if (found === undefined) throw notFound('File');
  const { commit } = found;
  const ref = request.ref || shortName(head!.target);
  const path = (request.path ?? '').replace(/^\/+|\/+$/g, '');
  const parts = [project.path, dashed(ref), commit, ...(path === '' ? [] : [dashed(path)])];
  const name = { commit, path, prefix: parts.join('-'), format: request.format };
  const recorded = async () => {
    if (event === undefined) return;
    const details = { custom_message: 'Repository Download Started' };
    await store.table.put((await event)({ entity: auditedResource('Project', project), details }));
  };

  // Until it is asked for its pieces, it has read trees only: so much may be in vain.
  const making = started(archive(repository.store, name));
  const recording = path === '' ? started(recorded()) : undefined;
  const kept = await store.archives.get(project.repositoryId, name);
  if (kept !== undefined) {
    await (recording ?? recorded());
    return { name: name.prefix, body: kept };
  }
  try {
    const made = await making;
    if (made === undefined) throw notFound('File');
    await (recording ?? recorded());
    return { name: name.prefix, body: store.archives.keep(project.repositoryId, name, made) };
  } catch (error) {
    if (error instanceof CorruptData && error.code === 'limit')
      throw tooLarge('413 Request Entity Too Large: the archive would have too many members; clone instead');
    throw error;
  }
}

const dashed = (text: string) => text.replaceAll('/', '-');
