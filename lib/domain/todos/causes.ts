/** What makes to-dos: users are assigned, mentioned, or addressed at the beginning of a text. */
import type { FormerMentions } from '../../records/notifications.ts';
import type { StoredText } from '../../records/texts.ts';
import type { TodoAction, TodoTarget } from '../../records/todos.ts';
import type { TrackedRecord } from '../../records/tracked.ts';
import { MembershipCache } from '../access/effective-level.ts';
import { projectAccess } from '../access/open-request.ts';
import type { ProjectAccess } from '../access/types.ts';
import { maySeeIssue } from '../access/visible-issues.ts';
import type { Viewer } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { formerNames } from '../notifications/former-mentions.ts';
import { mentionsIn } from '../notifications/mentions.ts';
import { maySeeAlert, maySeeMergeRequest, targetOf } from './todos.ts';

/** Users of one text who get a to-do. */
const MAX_MENTIONED = 100;

interface Cause {
  /** Absent in messages of earlier releases: an issue. */
  readonly kind?: TodoTarget['kind'];
  readonly projectId: number;
  readonly iid: number;
  readonly authorId: number;
  readonly assignedIds: readonly number[];
  readonly reviewerIds?: readonly number[];
  readonly unmergeable?: boolean;
  readonly described: boolean;
  readonly finished: boolean;
  readonly releasedIds?: readonly number[];
  /** The note with the new text; otherwise that is the description. */
  readonly noteId?: number;
  readonly former?: FormerMentions;
}

/**
 * Creates the to-dos that a change of an issue, a merge request or an alert, or a note on it, causes, for those who may see
 * it as it is now, and marks those as done of whom it asks nothing more. Who is mentioned takes part in its conversation; groups
 * that are mentioned get none. May run twice.
 */
export async function addTodos(deps: Deps, cause: Cause, messageId: string): Promise<void> {
  const { store } = deps;
  const { projectId, authorId, finished, noteId } = cause;
  const [about, project] = await Promise.all([subjectOf(deps, cause), store.projects.get(projectId)]);
  if (about === undefined || project === undefined) return;
  const { target } = about;
  for (const id of new Set([...(finished ? [authorId] : []), ...about.released])) {
    const todo = await store.todos.about(id, target);
    if (todo?.state === 'pending') await store.todos.finish([todo], deps.now());
  }
  const actions = new Map<number, TodoAction>();
  const mentionedIds = new Set<number>();
  const thread = { projectId, noteable: { kind: target.kind, id: target.id } } as const;
  const note = noteId === undefined ? undefined : await store.notes.get({ ...thread, id: noteId });
  const text = cause.described ? (noteId === undefined ? about.description : (note?.body ?? null)) : null;
  if (text !== null) {
    const former = await formerNames(deps, cause.former ?? []);
    const { addressed, mentioned } = await mentionedUsers(deps, await store.texts.read(text), former);
    for (const id of mentioned) {
      mentionedIds.add(id);
      actions.set(id, 'mentioned');
    }
    for (const id of addressed) actions.set(id, 'directly_addressed');
  }
  for (const [id, action] of about.asked) actions.set(id, action);
  // Authors know what they wrote; assigning oneself is a wish to be reminded.
  if (!about.asked.has(authorId)) actions.delete(authorId);
  const ids = [...actions.keys()];
  for (const user of await store.users.getMany(ids)) {
    if (user === undefined || user.state !== 'active') continue;
    const viewer = { kind: 'user', user } as const;
    const access = await projectAccess(viewer, project, new MembershipCache(deps));
    if (access === undefined || !about.mayBeSeen(viewer, access, note?.internal === true)) continue;
    if (mentionedIds.has(user.id)) await store.threads.join(thread, user.id);
    const todo = {
      ...{ userId: user.id, authorId, action: actions.get(user.id)!, target },
      ...(note === undefined ? {} : { note: { id: note.id, internal: note.internal === true } }),
    };
    const once = store.processed.mark(`todos:${user.id}`, messageId, deps.now());
    await store.todos.add({ ...todo, createdAt: deps.now().toISOString() }, [once]);
  }
}

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

async function subjectOf({ store }: Deps, cause: Cause): Promise<Subject | undefined> {
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
  return (
    record && {
      target: targetOf(kind, record),
      description: record.description,
      released: [],
      asked: new Map([
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

/** Users whom a text mentions; those are addressed whose names it begins with. */
async function mentionedUsers({ store }: Deps, text: string, former: readonly string[]) {
  const known = new Set(former.map((name) => name.toLowerCase()));
  const names = mentionsIn(text)
    .filter((name) => !known.has(name.toLowerCase()))
    .slice(0, MAX_MENTIONED);
  const first = new Set(
    mentionsIn(/^\s*(?:@\S+[\s,]+(?:and\s+)?)*(?:@\S+)?/.exec(text.slice(0, 10_000))?.[0] ?? ''),
  );
  const holders = await store.names.holders('path', names);
  const ids = (all: readonly (number | undefined)[]) => all.filter((id) => id !== undefined);
  const users = holders.map((holder) => (holder?.type === 'user' && holder.current ? holder.id : undefined));
  return { mentioned: ids(users), addressed: ids(users.filter((_, i) => first.has(names[i]!))) };
}
