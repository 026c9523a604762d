import type { GitAccess, ProjectAccess } from '../../domain/access/types.ts';
import type { Actor } from '../../domain/actor.ts';
import type { Deps } from '../../domain/deps.ts';
import { openRepository } from '../../domain/repository/open.ts';
import { splitRefAndPath } from '../../domain/repository/ref-and-path.ts';
import type { RequestFacts } from '../../http/endpoint.ts';
import { noRoute, notAllowed } from '../../http/errors.ts';
import { type Reply, reply } from '../../http/reply.ts';
import { rawFile } from '../files/raw.ts';
import { archiveReply } from '../repository/archive.ts';
import type { WebPath } from './path.ts';

const RELEASED = /^(.+?)\/downloads\/(.+)$/;
const EVIDENCE = /^(.+)\/evidences\/([1-9]\d{0,14})\.json$/;
/** Stands for the tag of the latest release. */
const LATEST = 'permalink/latest';
const FORMAT = /^(.+)\.(zip|tar\.gz|tar\.bz2|tar)$/;

/**
 * Serves the downloads that web pages link to: `/-/archive/<ref>/<name>.<format>`, where the name is any, and
 * `/-/raw/<ref>/<path>`, `/-/releases/<tag>/evidences/<id>.json`; and redirects from `/-/releases/<tag>/downloads/<path>` to
 * the file of a release.
 * @throws 404 for an unknown revision, release, file or format
 */
export async function serveWeb(
  { web, rest }: WebPath,
  query: URLSearchParams,
  facts: RequestFacts,
  { actor, project }: GitAccess,
  deps: Deps,
): Promise<Reply> {
  if (facts.method !== 'GET' && facts.method !== 'HEAD') throw notAllowed(['GET', 'HEAD']);
  if (web === 'releases') return ofRelease(deps, actor, project, rest);
  const { refs } = openRepository(deps, project.project, {});
  if (web === 'raw') {
    const { ref, path } = await splitRefAndPath(refs, rest);
    return rawFile(deps, project, { ref, path, lfs: true }, facts);
  }
  const [, text, format] = FORMAT.exec(rest) ?? [];
  if (text === undefined) throw noRoute();
  const { ref, path: fileName } = await splitRefAndPath(refs, text);
  const wanted = { ref, path: query.get('path') ?? undefined, fileName };
  return archiveReply(deps, actor, project, wanted, format as 'zip' | 'tar' | 'tar.gz' | 'tar.bz2', facts);
}

async function ofRelease(deps: Deps, actor: Actor, project: ProjectAccess, rest: string): Promise<Reply> {
  const [, tag, filepath] = RELEASED.exec(rest) ?? [];
  if (tag !== undefined && filepath !== undefined) {
    const { downloadUrl } = await import('../../domain/releases/links.ts');
    const found = tag === LATEST ? undefined : tag;
    return reply({ status: 302, headers: { Location: await downloadUrl(deps, project, found, filepath) } });
  }
  const [, released, id] = EVIDENCE.exec(rest) ?? [];
  if (released === undefined) throw noRoute();
  const { evidenceDocument } = await import('../../domain/releases/evidence.ts');
  const body = await evidenceDocument(deps, actor, project, released, Number(id));
  return reply({ type: 'application/json', body });
}
