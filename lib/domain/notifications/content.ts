/** Content and audience of a notification. Both are read when the job runs, so that nothing is sent about deleted records. */

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

/** Maximum length of a commit title in a subject, in UTF-16 code units. */
const MAX_TITLE_LENGTH = 200;

/** @returns undefined when the subject no longer exists, or notifications are turned off there */
export async function contentOf(
  deps: Deps,
  { happening, ...notification }: Notification & { readonly id: string },
): Promise<NotificationContent | undefined> {
  if (happening.kind === 'membership') return membershipContent(deps, { ...notification, happening });
  if (happening.kind === 'invitation') return invitationContent(deps, { ...notification, happening });
  const resource = await projectResourceOf(deps, happening.projectId);
  if (resource === undefined || isMuted(resource)) return undefined;
  switch (happening.kind) {
    case 'note':
      return noteContent(deps, resource, { ...notification, happening });
    case 'issue-note':
      return issueNoteContent(deps, resource, { ...notification, happening });
    case 'pipeline':
      return pipelineContent(deps, resource, { ...notification, happening });
    case 'moved':
      return moveContent(deps, resource, { ...notification, happening });
  }
}

type EventOf<K extends DomainEvent['kind']> = Notification & {
  readonly id: string;
  readonly happening: Extract<DomainEvent, { kind: K }>;
};

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
  const where = line === null ? '' : `, on line ${line.newLine} of ${line.path}`;
  return {
    ...common(resource, 'read_history'),
    audience: noteAudience(deps, resource, { thread, actorId: note.author.id, authorIds, called: mentioned }),
    joins: { thread, userIds: new Set(mentioned.userIds) },
    unsubscribe: { thread },
    mail: {
      subject: `Re: ${project.name} | ${titleOf(commit.message).slice(0, MAX_TITLE_LENGTH)} (${short})`,
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

async function issueNoteContent(
  deps: Deps,
  resource: ProjectResource,
  { happening, baseUrl }: EventOf<'issue-note'>,
): Promise<NotificationContent | undefined> {
  const { project } = resource;
  const issue = await deps.store.issues.get({ projectId: project.id, iid: happening.iid });
  if (issue === undefined) return undefined;
  const thread = { projectId: project.id, noteable: { kind: 'issue', id: issue.id } } as const;
  const note = await deps.store.notes.get({ ...thread, id: happening.noteId });
  if (note === undefined) return undefined;
  const [body, author] = await Promise.all([
    deps.store.texts.read(note.body),
    deps.store.users.get(note.author.id),
  ]);
  const mentioned = await mentionedIn(deps, body, { resource, author });
  const authorIds = [issue.author.id, ...issue.assigneeIds];
  return {
    ...common(resource, 'read_issues'),
    about: { resource, ability: 'read_issues', issue: { record: issue, internal: note.internal === true } },
    audience: noteAudience(deps, resource, { thread, actorId: note.author.id, authorIds, called: mentioned }),
    joins: { thread, userIds: new Set(mentioned.userIds) },
    unsubscribe: { thread },
    mail: {
      subject: `Re: ${project.name} | ${issue.title.slice(0, MAX_TITLE_LENGTH)} (#${issue.iid})`,
      lines: [`${note.author.name} (@${note.author.username}) commented on issue #${issue.iid}:`],
      namesAuthor: true,
      quote: body,
      url: `${urlOf(project, baseUrl)}/-/issues/${issue.iid}#note_${note.id}`,
      thread: `issue_${issue.id}.project_${project.id}`,
      message: `note_${note.id}`,
      project,
      facts: { Author: note.author.username, 'Issue-ID': String(issue.id), 'Issue-IID': String(issue.iid) },
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
    ...common(resource, 'read_pipelines'),
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
    ...common(resource, 'read_project'),
    audience: moveAudience(deps, project, await movedMembers(deps, resource, fromIds), actorId),
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

const common = (resource: ProjectResource, ability: ProjectAbility) => ({
  about: { resource, ability },
  unsubscribe: { source: sourceOf(resource.project) },
});

const urlOf = ({ fullPath }: ProjectRecord, baseUrl: string): string => `${baseUrl}/${fullPath}`;
