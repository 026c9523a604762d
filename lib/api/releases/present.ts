import { can } from '../../domain/access/permissions.ts';
import type { ProjectAccess } from '../../domain/access/types.ts';
import type { Actor } from '../../domain/actor.ts';
import { countedFor, countOfMilestones } from '../../domain/issues/counts.ts';
import { visibleEvidences } from '../../domain/releases/evidence.ts';
import { milestonesOf, withCode } from '../../domain/releases/releases.ts';
import type { ReleaseLink, ReleaseRecord } from '../../records/releases.ts';
import { commitBasic } from '../commits/present.ts';
import type { ApiDeps } from '../endpoint.ts';
import { presentedMilestones } from '../milestones/presented.ts';
import { projectUrl } from '../projects/present.ts';
import { userBasic } from '../users/present.ts';

/** Milestones whose issues are counted for one answer. */
const MAX_COUNTED = 100;

const FORMATS = ['zip', 'tar.gz', 'tar.bz2', 'tar'] as const;

/** URL of the page of a release. */
const releaseUrl = (project: string, tag: string): string =>
  `${project}/-/releases/${encodeURIComponent(tag)}`;

/** @param project URL of the project */
export const releaseLink = (
  { id, name, url, filepath, type }: ReleaseLink,
  tag: string,
  project: string,
) => ({
  id,
  name,
  url,
  direct_asset_url: filepath === null ? url : `${releaseUrl(project, tag)}/downloads${filepath}`,
  external: url !== project && !url.startsWith(`${project}/`),
  link_type: type,
});

/** Releases as responses show them; callers who may not read code see neither their tags nor what these lead to. */
export async function presented(
  deps: ApiDeps,
  actor: Actor,
  access: ProjectAccess,
  releases: readonly ReleaseRecord[],
  { baseUrl, html = false }: { readonly baseUrl: string; readonly html?: boolean },
) {
  const { project } = access;
  const url = projectUrl(project, baseUrl);
  const [readsCode, edits] = [can(actor, access, 'read_code'), can(actor, access, 'admin_release')];
  const [shown, milestones, authors, descriptions] = await Promise.all([
    withCode(deps, actor, access, releases),
    milestonesOf(deps, actor, access, releases).then(async (found) => {
      const counted = [...found.keys()].slice(0, MAX_COUNTED);
      const [planned, counts] = await Promise.all([
        presentedMilestones(deps, [...found.values()], baseUrl, { projects: [project] }),
        countOfMilestones(deps, project.id, countedFor(actor, access), counted),
      ]);
      return new Map(
        planned.map((each) => {
          const stats = counts.get(each.id);
          return [each.id, stats === undefined ? each : { ...each, issue_stats: stats }];
        }),
      );
    }),
    authorsOf(deps, releases),
    html ? rendered(deps, actor, access, releases, baseUrl) : undefined,
  ]);
  const now = deps.now().toISOString();
  return shown.map(({ release, commit }, i) => {
    const { tag, links } = release;
    const author = authors.get(release.authorId);
    const planned = release.milestoneIds.flatMap((id) => milestones.get(id) ?? []);
    const encoded = encodeURIComponent(tag);
    const sources = readsCode
      ? FORMATS.map((format) => ({
          format,
          url: `${url}/-/archive/${encoded}/${project.path}-${tag.replaceAll('/', '-')}.${format}`,
        }))
      : [];
    return {
      ...(readsCode ? { tag_name: tag } : {}),
      // A name is the tag, unless its author chose another.
      name: readsCode ? release.name : `Release-${release.id}`,
      description: release.description,
      ...(descriptions === undefined ? {} : { description_html: descriptions[i]! }),
      created_at: release.createdAt,
      released_at: release.releasedAt,
      upcoming_release: release.releasedAt > now,
      ...(author === undefined ? {} : { author: userBasic(author, baseUrl) }),
      ...(readsCode ? { commit: commit === undefined ? null : commitBasic(commit, url) } : {}),
      ...(planned.length === 0 ? {} : { milestones: planned }),
      ...(readsCode
        ? {
            ...(commit === undefined ? {} : { commit_path: `/${project.fullPath}/-/commit/${commit.oid}` }),
            tag_path: `/${project.fullPath}/-/tags/${encoded}`,
          }
        : {}),
      assets: {
        count: links.length + sources.length,
        ...(readsCode ? { sources } : {}),
        links: links.map((link) => shownLink(link, tag, url, readsCode)),
      },
      ...(readsCode
        ? {
            evidences: visibleEvidences(actor, access, release).map(({ id, sha, collectedAt }) => ({
              sha,
              filepath: `${releaseUrl(url, tag)}/evidences/${id}.json`,
              collected_at: collectedAt,
            })),
          }
        : {}),
      _links: readsCode ? linksOf(url, tag, edits) : {},
    };
  });
}

/** Permanent addresses contain the tag. */
const shownLink = (link: ReleaseLink, tag: string, url: string, readsCode: boolean) =>
  releaseLink(readsCode ? link : { ...link, filepath: null }, tag, url);

function linksOf(url: string, tag: string, edits: boolean) {
  const self = releaseUrl(url, tag);
  const list = (what: string, state: string) =>
    `${url}/-/${what}?release_tag=${encodeURIComponent(tag)}&scope=all&state=${state}`;
  return {
    closed_issues_url: list('issues', 'closed'),
    closed_merge_requests_url: list('merge_requests', 'closed'),
    ...(edits ? { edit_url: `${self}/edit` } : {}),
    merged_merge_requests_url: list('merge_requests', 'merged'),
    opened_issues_url: list('issues', 'opened'),
    opened_merge_requests_url: list('merge_requests', 'opened'),
    self,
  };
}

async function authorsOf(deps: ApiDeps, releases: readonly ReleaseRecord[]) {
  const ids = [...new Set(releases.map(({ authorId }) => authorId))];
  if (ids.length === 0) return new Map();
  const found = await deps.store.users.getMany(ids);
  return new Map(ids.flatMap((id, i) => (found[i] === undefined ? [] : [[id, found[i]] as const])));
}

async function rendered(
  deps: ApiDeps,
  actor: Actor,
  project: ProjectAccess,
  releases: readonly ReleaseRecord[],
  baseUrl: string,
): Promise<string[]> {
  // Rarely asked for.
  const { renderedFor } = await import('../../domain/references/render.ts');
  const texts: string[] = [];
  for (const { description } of releases)
    texts.push(await renderedFor(deps, description, { actor, baseUrl, project }));
  return texts;
}
