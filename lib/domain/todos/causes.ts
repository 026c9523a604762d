/** What makes to-dos: users are assigned, mentioned, or addressed at the beginning of a text. */
import type { MemberSource } from '../../records/members.ts';
import type { MergeRequestRecord } from '../../records/merge-requests.ts';
import type { FormerMentions } from '../../records/notifications.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { StoredText } from '../../records/texts.ts';
import type { TodoAction, TodoTarget } from '../../records/todos.ts';
import type { TrackedRecord } from '../../records/tracked.ts';
import type { IdPage } from '../../store/table/id-page.ts';
import { MembershipCache } from '../access/effective-level.ts';
import { projectAccess } from '../access/open-request.ts';
import type { ProjectAccess } from '../access/types.ts';
import { maySeeIssue } from '../access/visible-issues.ts';
import type { Viewer } from '../actor.ts';
import { askedToApprove } from '../approvals/asked.ts';
import type { Deps } from '../deps.ts';
import { formerNames } from '../notifications/former-mentions.ts';
import { mentionedIn } from '../notifications/mentioned-members.ts';
import { EVERYBODY } from '../notifications/mentions.ts';
import { projectResourceOf } from '../notifications/resources.ts';
import { maySeeAlert, maySeeMergeRequest, targetOf } from './todos.ts';

/** Members of a group who get to-dos between two looks at the clock. */
const MEMBERS_AT_ONCE = 50;

interface Cause {
  /** Absent in messages of earlier releases: an issue. */
  readonly kind?: TodoTarget['kind'];
  readonly projectId: number;
  readonly iid: number;
  readonly authorId: number;
  readonly assignedIds: readonly number[];
  readonly reviewerIds?: readonly number[];
  readonly approvalRules?: 'all' | readonly number[];
  readonly unmergeable?: boolean;
  readonly failedSha?: string;
  readonly described: boolean;
  readonly finished: boolean;
  readonly releasedIds?: readonly number[];
  /** The note with the new text; otherwise that is the description. */
  readonly noteId?: number;
  readonly former?: FormerMentions;
  /** Where an earlier run stopped: a group among those that are mentioned, and the last member that it looked at. */
  readonly from?: { readonly source: number; readonly after: number };
}

/**
 * Creates the to-dos that a change of an issue, a merge request or an alert, or a note on it, causes, for those who may see
 * it as it is now, and marks those as done of whom it asks nothing more. Who is mentioned by name takes part in its
 * conversation; members of groups that are mentioned get to-dos alone. May run twice.
 * @param deadline milliseconds since 1970; no page of members begins after it
 * @returns where to go on; undefined at the end
 */
export async function addTodos(
  deps: Deps,
  cause: Cause,
  messageId: string,
  deadline: number,
): Promise<Cause | undefined> {
  const { store } = deps;
  const { projectId, authorId, noteId, from } = cause;
  const project = await store.projects.get(projectId);
  const about = project && (await subjectOf(deps, project, cause));
  if (about === undefined || project === undefined) return undefined;
  const { target } = about;
  const thread = { projectId, noteable: { kind: target.kind, id: target.id } } as const;
  const note = noteId === undefined ? undefined : await store.notes.get({ ...thread, id: noteId });
  const text = cause.described ? (noteId === undefined ? about.description : (note?.body ?? null)) : null;
  const called = text === null ? NOBODY : await calledIn(deps, project, cause, await store.texts.read(text));
  const { named, addressed } = called;
  const add = async (actions: ReadonlyMap<number, TodoAction>) => {
    for (const user of await store.users.getMany([...actions.keys()])) {
      if (user === undefined || user.state !== 'active') continue;
      const viewer = { kind: 'user', user } as const;
      const access = await projectAccess(viewer, project, new MembershipCache(deps));
      if (access === undefined || !about.mayBeSeen(viewer, access, note?.internal === true)) continue;
      if (named.has(user.id)) await store.threads.join(thread, user.id, note?.internal === true);
      const todo = {
        ...{ userId: user.id, authorId, action: actions.get(user.id)!, target },
        ...(note === undefined ? {} : { note: { id: note.id, internal: note.internal === true } }),
      };
      const once = store.processed.mark(`todos:${user.id}`, messageId, deps.now());
      await store.todos.add({ ...todo, createdAt: deps.now().toISOString() }, [once]);
    }
  };
  const actionOf = (isAddressed: boolean): TodoAction => (isAddressed ? 'directly_addressed' : 'mentioned');
  if (from === undefined) {
    for (const id of new Set([...(cause.finished ? [authorId] : []), ...about.released])) {
      const todo = await store.todos.about(id, target);
      if (todo?.state === 'pending') await store.todos.finish([todo], deps.now());
    }
    const actions = new Map([...named].map((id) => [id, actionOf(addressed.named.has(id))]));
    for (const [id, action] of about.asked) actions.set(id, action);
    // Authors know what they wrote; assigning oneself is a wish to be reminded.
    if (!about.asked.has(authorId)) actions.delete(authorId);
    await add(actions);
  }
  const { source: first, after: begin } = from ?? { source: 0, after: 0 };
  for (const [i, source] of called.sources.entries()) {
    if (i < first) continue;
    const action = actionOf(addressed.sources.some((each) => isSame(each, source)));
    for (let after: number | undefined = i === first ? begin : 0; after !== undefined; ) {
      if (Date.now() > deadline) return { ...cause, from: { source: i, after } };
      const page: IdPage = await store.members.idsAfter(source, after, MEMBERS_AT_ONCE);
      const members = page.ids.filter((id) => id !== authorId && !named.has(id));
      await add(new Map(members.map((id) => [id, action])));
      after = page.until;
    }
  }
  return undefined;
}

const isSame = (one: MemberSource, other: MemberSource): boolean =>
  one.kind === other.kind && one.id === other.id;

/** What to-dos are about, as it is now. */
interface Subject {
  readonly target: TodoTarget;
  readonly description: StoredText | null;
  /** Of whom nothing is asked any more. */
  readonly released: readonly number[];
  /** Who is asked to do something, whatever texts say. */
  readonly asked: ReadonlyMap<number, TodoAction>;
  readonly mayBeSeen: (viewer: Viewer, access: ProjectAccess, internal: boolean) => boolean;
}

async function subjectOf(deps: Deps, project: ProjectRecord, cause: Cause): Promise<Subject | undefined> {
  const { store } = deps;
  const { kind = 'issue', assignedIds, reviewerIds = [], unmergeable = false, releasedIds = [] } = cause;
  const assigned = ({ assigneeIds }: Pick<TrackedRecord, 'assigneeIds'>) =>
    assignedIds.filter((id) => assigneeIds.includes(id)).map((id): [number, TodoAction] => [id, 'assigned']);
  if (kind === 'alert') {
    const alert = await store.alerts.get(cause.projectId, cause.iid);
    const assigneeIds = alert?.status === 'resolved' ? [] : (alert?.assigneeIds ?? []);
    return (
      alert && {
        target: targetOf(kind, { ...alert, id: alert.iid }),
        description: null,
        released: releasedIds.filter((id) => !assigneeIds.includes(id)),
        asked: new Map(assigned({ assigneeIds })),
        mayBeSeen: maySeeAlert,
      }
    );
  }
  if (kind === 'issue') {
    const issue = await store.issues.get(cause);
    return (
      issue && {
        target: targetOf(kind, issue),
        description: issue.description,
        released: [],
        asked: new Map(assigned(issue)),
        // An internal note is for those who may see the issue if it is confidential.
        mayBeSeen: (viewer, access, internal) =>
          maySeeIssue(viewer, access, { ...issue, confidential: issue.confidential || internal }),
      }
    );
  }
  const record = await store.mergeRequests.get(cause);
  // Who is asked was asked by the first run.
  const approvers =
    record?.state !== 'opened' || cause.approvalRules === undefined || cause.from !== undefined
      ? []
      : await askedToApprove(deps, { project, level: 0 }, record, cause.approvalRules);
  return (
    record && {
      target: targetOf(kind, record),
      description: record.description,
      released: [],
      asked: new Map([
        ...approvers.map((id) => [id, 'approval_required'] as const),
        ...(cause.failedSha === record.diff.headSha ? concernedByPipeline(record) : []),
        ...(unmergeable ? [[record.author.id, 'unmergeable'] as const] : []),
        ...reviewerIds
          .filter((id) => record.reviewerIds.includes(id))
          .map((id) => [id, 'review_requested'] as const),
        ...assigned(record),
      ]),
      mayBeSeen: maySeeMergeRequest,
    }
  );
}

/** Who wants what is open to be merged, and has to see to its pipeline. */
const concernedByPipeline = ({ state, author, autoMerge }: MergeRequestRecord): [number, TodoAction][] =>
  state !== 'opened'
    ? []
    : [author.id, ...(autoMerge === null ? [] : [autoMerge.userId])].map((id) => [id, 'build_failed']);

interface Called {
  /** Users, by their names. */
  readonly named: ReadonlySet<number>;
  /** Groups, whose members are all meant; for `@all` those of the project. */
  readonly sources: readonly MemberSource[];
}

const NOBODY: Called & { readonly addressed: Called } = {
  ...{ named: new Set(), sources: [] },
  addressed: { named: new Set(), sources: [] },
};

/** Names that a text begins with. */
const ADDRESSED = /^\s*(?:@\S+[\s,]+(?:and\s+)?)*(?:@\S+)?/;

/** Whom a text mentions who was not before; those are addressed whose names it begins with. */
async function calledIn(
  deps: Deps,
  project: ProjectRecord,
  { authorId, former }: Cause,
  text: string,
): Promise<Called & { readonly addressed: Called }> {
  const [author, except, resource] = await Promise.all([
    deps.store.users.get(authorId),
    formerNames(deps, former ?? []),
    text.includes(`@${EVERYBODY}`) ? projectResourceOf(deps, project.id) : undefined,
  ]);
  const by = { author, except, resource: resource ?? { memberSources: [] } };
  const called = async (part: string): Promise<Called> => {
    const { userIds, sources } = await mentionedIn(deps, part, by);
    return { named: new Set(userIds), sources };
  };
  const [all, addressed] = await Promise.all([
    called(text),
    called(ADDRESSED.exec(text.slice(0, 10_000))?.[0] ?? ''),
  ]);
  return { ...all, addressed };
}
