/** Content and audience of a notification. Both are read when the job runs, so that nothing is sent about deleted records. */

import { titleOf } from '../../git/commit-title.ts';
import type { Oid } from '../../git/oid.ts';
import type { Deps } from '../deps.ts';
import { cloneRoot, cloneUrl } from '../repository/clone-url.ts';
import { codeOf } from '../repository/read.ts';
import { alertContent } from './alert-content.ts';
import { memberAudience, type NotificationContent, pipelineAudience, threadAudience } from './audience.ts';
import { aboutProject, type EventOf, shortTitle, urlOf } from './content-parts.ts';
import type { Notification } from './enqueue.ts';
import { epicContent, epicNoteContent } from './epic-content.ts';
import { issueContent, issueNoteContent } from './issue-content.ts';
import { invitationContent, membershipContent } from './membership-content.ts';
import { mentionedIn } from './mentioned-members.ts';
import { mergeRequestContent, mergeRequestNoteContent } from './merge-request-content.ts';
import { isMuted, memberSourcesOf, type ProjectResource, projectResourceOf } from './resources.ts';
import { snippetNoteContent } from './snippet-content.ts';

/** @returns undefined when the subject no longer exists, or notifications are turned off there */
export async function contentOf(
  deps: Deps,
  { happening, ...notification }: Notification & { readonly id: string },
): Promise<NotificationContent | undefined> {
  if (happening.kind === 'membership') return membershipContent(deps, { ...notification, happening });
  if (happening.kind === 'invitation') return invitationContent(deps, { ...notification, happening });
  if (happening.kind === 'epic') return epicContent(deps, { ...notification, happening });
  if (happening.kind === 'epic-note') return epicNoteContent(deps, { ...notification, happening });
  const resource = await projectResourceOf(deps, happening.projectId);
  if (resource === undefined || isMuted(resource)) return undefined;
  switch (happening.kind) {
    case 'note':
      return noteContent(deps, resource, { ...notification, happening });
    case 'issue-note':
      return issueNoteContent(deps, resource, { ...notification, happening });
    case 'issue':
      return issueContent(deps, resource, { ...notification, happening });
    case 'merge-request-note':
      return mergeRequestNoteContent(deps, resource, { ...notification, happening });
    case 'merge-request':
      return mergeRequestContent(deps, resource, { ...notification, happening });
    case 'snippet-note':
      return snippetNoteContent(deps, resource, { ...notification, happening });
    case 'pipeline':
      return pipelineContent(deps, resource, { ...notification, happening });
    case 'release':
      return releaseContent(deps, resource, { ...notification, happening });
    case 'alert':
      return alertContent(deps, resource, { ...notification, happening });
    case 'moved':
      return moveContent(deps, resource, { ...notification, happening });
  }
}

async function noteContent(
  deps: Deps,
  resource: ProjectResource,
  { happening, baseUrl }: EventOf<'note'>,
): Promise<NotificationContent | undefined> {
  const { project } = resource;
  const noteable = { kind: 'commit', id: happening.commit } as const;
  const thread = { projectId: project.id, noteable };
  const [[note], commit] = await Promise.all([
    deps.store.notes.getMany([{ ...thread, id: happening.noteId }]),
    codeOf(deps, { project, level: 0 }).commit(happening.commit as Oid),
  ]);
  if (note === undefined) return undefined;
  const [body, author, ...people] = await Promise.all([
    deps.store.texts.read(note.body),
    deps.store.users.get(note.author.id),
    ...[...new Set([commit.author.email, commit.committer.email])].map((email) =>
      email === '' ? undefined : deps.store.users.byEmail(email),
    ),
  ]);
  const mentioned = await mentionedIn(deps, body, { resource, author });
  const authorIds = people.flatMap((user) => (user === undefined ? [] : [user.id]));
  const short = commit.oid.slice(0, 8);
  const { line } = note;
  const number = line?.type === 'old' ? line.oldLine : line?.newLine;
  const where = line === null ? '' : `, on line ${number} of ${line.path}`;
  return {
    ...aboutProject(resource, 'read_history'),
    audience: threadAudience(deps, 'new_note', resource, {
      thread,
      actorId: note.author.id,
      authorIds,
      mentioned,
    }),
    joins: { thread, userIds: new Set(mentioned.userIds) },
    unsubscribe: { thread },
    mail: {
      subject: `Re: ${project.name} | ${shortTitle(titleOf(commit.message))} (${short})`,
      lines: [`${note.author.name} (@${note.author.username}) commented on commit ${short}${where}:`],
      namesAuthor: true,
      quote: body,
      url: `${urlOf(project, baseUrl)}/-/commit/${commit.oid}#note_${note.id}`,
      thread: `commit_${commit.oid}.project_${project.id}`,
      message: `note_${note.id}`,
      project,
      facts: { Author: note.author.username, 'Commit-ID': commit.oid },
    },
  };
}

async function pipelineContent(
  deps: Deps,
  resource: ProjectResource,
  { happening, baseUrl, id }: EventOf<'pipeline'>,
): Promise<NotificationContent | undefined> {
  const { project } = resource;
  const { outcome, before } = happening;
  const pipeline = await deps.store.pipelines.get(project.id, happening.sha, happening.pipelineId);
  if (pipeline === undefined) return undefined;
  const previous = before ?? (await deps.store.pipelines.outcomeBefore(pipeline));
  const wording =
    outcome === 'failed'
      ? ({ event: 'failed_pipeline', word: 'Failed', said: 'has failed' } as const)
      : previous === 'failed'
        ? ({ event: 'fixed_pipeline', word: 'Fixed', said: 'has been fixed' } as const)
        : ({ event: 'success_pipeline', word: 'Successful', said: 'has passed' } as const);
  const short = pipeline.sha.slice(0, 8);
  return {
    ...aboutProject(resource, 'read_pipelines'),
    audience: pipelineAudience(wording.event, pipeline.author.id),
    mail: {
      subject: `${project.name} | ${wording.word} pipeline for ${pipeline.ref} | ${short}`,
      lines: [
        `Pipeline #${pipeline.id} of ${project.fullPath} ${wording.said} for ${pipeline.ref} (${short}).`,
      ],
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

async function releaseContent(
  deps: Deps,
  resource: ProjectResource,
  { happening, actorId, baseUrl }: EventOf<'release'>,
): Promise<NotificationContent | undefined> {
  const { project } = resource;
  const release = await deps.store.releases.get(project.id, happening.tag);
  if (release === undefined) return undefined;
  const { name, tag, description, id } = release;
  return {
    // Guests may not know the tag.
    ...aboutProject(resource, 'read_code'),
    audience: memberAudience(deps, 'new_release', resource, actorId),
    mail: {
      subject: `${project.name} | New release: ${shortTitle(name)} - ${shortTitle(tag)}`,
      lines: [`A new release, ${name}, was published for ${project.fullPath}, with the tag ${tag}.`],
      ...(description === '' ? {} : { quote: description }),
      url: `${urlOf(project, baseUrl)}/-/releases/${encodeURIComponent(tag)}`,
      thread: `release_${id}.project_${project.id}`,
      message: `release_${id}`,
      project,
      facts: { 'Release-Tag': tag },
    },
  };
}

/** Limit of mails about moves by one person: moving a group with many projects could fill its members' mailboxes. */
const MOVE_RATE = { kind: 'told-moves', limit: 1_000, seconds: 3_600 } as const;

async function moveContent(
  deps: Deps,
  resource: ProjectResource,
  { happening, actorId, baseUrl, id, position }: EventOf<'moved'>,
): Promise<NotificationContent | undefined> {
  const { project } = resource;
  const { from, fromIds } = happening;
  // The project was moved back before the first mail.
  if (project.fullPath === from) return undefined;
  const { rateLimits } = deps.store;
  const firstRun = position === undefined;
  if (firstRun && !(await rateLimits.take(MOVE_RATE, String(actorId ?? from.split('/')[0]), deps.now())))
    return undefined;
  const url = urlOf(project, baseUrl);
  const clone = cloneUrl(project, await cloneRoot(deps, baseUrl));
  return {
    ...aboutProject(resource, 'read_project'),
    audience: memberAudience(
      deps,
      'moved_project',
      { project, memberSources: await movedMembers(deps, resource, fromIds) },
      actorId,
    ),
    mail: {
      subject: `${project.name} | Project was moved`,
      lines: [
        `The project ${from} was moved to ${project.fullPath}.`,
        `To update an existing clone: git remote set-url origin ${clone}`,
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
 * Returns the member sources that the project had before the move. Members of the new groups only have no old URL to
 * update, and may not be allowed to know the former groups.
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
