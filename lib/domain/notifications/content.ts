/** What happened, as it is told and to whom: read anew when the job comes, so that nobody is told what is gone by then. */

import { titleOf } from '../../git/commit-title.ts';
import type { Oid } from '../../git/oid.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { ProjectAbility } from '../access/abilities/all.ts';
import type { Deps } from '../deps.ts';
import { cloneRoot, cloneUrl } from '../repository/clone-url.ts';
import { codeOf } from '../repository/read.ts';
import { moveAudience, type NotificationContent, noteAudience, pipelineAudience } from './audience.ts';
import type { DomainEvent, Notification } from './enqueue.ts';
import { invitationContent, membershipContent } from './membership-content.ts';
import { mentionedIn } from './mentioned-members.ts';
import { isMuted, memberSourcesOf, type ProjectResource, projectResourceOf, sourceOf } from './resources.ts';

/** Of a commit, as far as a subject tells it. */
const MAX_TITLE = 200;

/** @returns undefined when there is nothing to tell any more, or nobody may be told */
export async function contentOf(
  deps: Deps,
  { happening, ...notification }: Notification & { readonly id: string },
): Promise<NotificationContent | undefined> {
  if (happening.kind === 'membership') return membershipContent(deps, { ...notification, happening });
  if (happening.kind === 'invitation') return invitationContent(deps, { ...notification, happening });
  const place = await projectResourceOf(deps, happening.projectId);
  if (place === undefined || isMuted(place)) return undefined;
  switch (happening.kind) {
    case 'note':
      return noteBulletin(deps, place, { ...notification, happening });
    case 'pipeline':
      return pipelineBulletin(deps, place, { ...notification, happening });
    case 'moved':
      return moveBulletin(deps, place, { ...notification, happening });
  }
}

type Told<K extends DomainEvent['kind']> = Notification & {
  readonly id: string;
  readonly happening: Extract<DomainEvent, { kind: K }>;
};

async function noteBulletin(
  deps: Deps,
  place: ProjectResource,
  { happening, baseUrl }: Told<'note'>,
): Promise<NotificationContent | undefined> {
  const { project } = place;
  const noteable = { kind: 'commit', id: happening.commit } as const;
  const thread = { projectId: project.id, noteable };
  const [[note], commit] = await Promise.all([
    deps.store.notes.getMany([{ ...thread, id: happening.noteId }]),
    codeOf(deps, { project, level: 0 }).commit(happening.commit as Oid),
  ]);
  if (note === undefined) return undefined;
  const [author, ...people] = await Promise.all([
    deps.store.users.get(note.author.id),
    ...[...new Set([commit.author.email, commit.committer.email])].map((email) =>
      email === '' ? undefined : deps.store.users.byEmail(email),
    ),
  ]);
  const called = await mentionedIn(deps, note.body, { place, author });
  const authorIds = people.flatMap((user) => (user === undefined ? [] : [user.id]));
  const short = commit.oid.slice(0, 8);
  const { line } = note;
  const where = line === null ? '' : `, on line ${line.newLine} of ${line.path}`;
  return {
    ...common(place, 'read_history'),
    audience: noteAudience(deps, place, { thread, actorId: note.author.id, authorIds, called }),
    joins: { thread, userIds: new Set(called.userIds) },
    unsubscribe: { thread },
    letter: {
      subject: `Re: ${project.name} | ${titleOf(commit.message).slice(0, MAX_TITLE)} (${short})`,
      lines: [`${note.author.name} (@${note.author.username}) commented on commit ${short}${where}:`],
      namesAuthor: true,
      quote: note.body,
      url: `${urlOf(project, baseUrl)}/-/commit/${commit.oid}#note_${note.id}`,
      thread: `commit_${commit.oid}.project_${project.id}`,
      message: `note_${note.id}`,
      project,
      facts: { Author: note.author.username, 'Commit-ID': commit.oid },
    },
  };
}

async function pipelineBulletin(
  deps: Deps,
  place: ProjectResource,
  { happening, baseUrl, id }: Told<'pipeline'>,
): Promise<NotificationContent | undefined> {
  const { project } = place;
  const { outcome, before } = happening;
  const pipeline = await deps.store.pipelines.get(project.id, happening.sha, happening.pipelineId);
  if (pipeline === undefined) return undefined;
  const last = before ?? (await deps.store.pipelines.outcomeBefore(pipeline));
  const told =
    outcome === 'failed'
      ? ({ event: 'failed_pipeline', word: 'Failed', said: 'has failed' } as const)
      : last === 'failed'
        ? ({ event: 'fixed_pipeline', word: 'Fixed', said: 'has been fixed' } as const)
        : ({ event: 'success_pipeline', word: 'Successful', said: 'has passed' } as const);
  const short = pipeline.sha.slice(0, 8);
  return {
    ...common(place, 'read_pipelines'),
    audience: pipelineAudience(told.event, pipeline.author.id),
    letter: {
      subject: `${project.name} | ${told.word} pipeline for ${pipeline.ref} | ${short}`,
      lines: [`Pipeline #${pipeline.id} of ${project.fullPath} ${told.said} for ${pipeline.ref} (${short}).`],
      url: `${urlOf(project, baseUrl)}/-/pipelines/${pipeline.id}`,
      thread: `pipelines_of_${Buffer.from(pipeline.ref).toString('hex').slice(0, 80)}.project_${project.id}`,
      message: `pipeline_${pipeline.id}.${id}`,
      project,
      facts: {
        'Pipeline-Id': String(pipeline.id),
        'Pipeline-Ref': pipeline.ref,
        'Pipeline-Status': outcome,
        'Commit-ID': pipeline.sha,
      },
    },
  };
}

/** Projects of which one person's moves are told: a group with many could fill its members' mailboxes. */
const TOLD_MOVES = { kind: 'told-moves', limit: 1_000, seconds: 3_600 } as const;

async function moveBulletin(
  deps: Deps,
  place: ProjectResource,
  { happening, actorId, baseUrl, id, position }: Told<'moved'>,
): Promise<NotificationContent | undefined> {
  const { project } = place;
  const { from, fromIds } = happening;
  // Back again before anybody was told.
  if (project.fullPath === from) return undefined;
  const { rateLimits } = deps.store;
  const begins = position === undefined;
  if (begins && !(await rateLimits.take(TOLD_MOVES, String(actorId ?? from.split('/')[0]), deps.now())))
    return undefined;
  const url = urlOf(project, baseUrl);
  const clone = cloneUrl(project, await cloneRoot(deps, baseUrl));
  return {
    ...common(place, 'read_project'),
    audience: moveAudience(deps, project, await movedMembers(deps, place, fromIds), actorId),
    letter: {
      subject: `${project.name} | Project was moved`,
      lines: [
        `The project ${from} is found at ${project.fullPath} from now on.`,
        `To go on with a clone of it: git remote set-url origin ${clone}`,
      ],
      url,
      thread: `project_${project.id}`,
      message: `moved_${project.id}.${id}`,
      project,
      facts: {},
    },
  };
}

/**
 * Those it had before it moved: who finds it where they are already has no address of it to forget, and may not know
 * of the groups that it stood in.
 */
const movedMembers = (
  deps: Deps,
  { project, groups }: ProjectResource,
  fromIds: readonly number[] | undefined,
) =>
  memberSourcesOf(
    deps,
    project,
    groups.filter(({ id }) => fromIds?.includes(id) ?? true),
  );

const common = (place: ProjectResource, ability: ProjectAbility) => ({
  about: { place, ability },
  unsubscribe: { source: sourceOf(place.project) },
});

const urlOf = ({ fullPath }: ProjectRecord, baseUrl: string): string => `${baseUrl}/${fullPath}`;
