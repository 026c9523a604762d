/** What makes to-dos: users are assigned, mentioned, or addressed at the beginning of a text. */
import type { FormerMentions } from '../../records/notifications.ts';
import type { TodoAction } from '../../records/todos.ts';
import { MembershipCache } from '../access/effective-level.ts';
import { projectAccess } from '../access/open-request.ts';
import { maySeeIssue } from '../access/visible-issues.ts';
import type { Deps } from '../deps.ts';
import { formerNames } from '../notifications/former-mentions.ts';
import { mentionsIn } from '../notifications/mentions.ts';
import { targetOf } from './todos.ts';

/** Users of one text who get a to-do. */
const MAX_MENTIONED = 100;

interface Cause {
  readonly projectId: number;
  readonly iid: number;
  readonly authorId: number;
  readonly assignedIds: readonly number[];
  readonly described: boolean;
  readonly finished: boolean;
  /** The note with the new text; otherwise that is the description. */
  readonly noteId?: number;
  readonly former?: FormerMentions;
}

/**
 * Creates the to-dos that a change of an issue or a note on it causes, for those who may see it as it is now; who is mentioned takes part
 * in its conversation. Groups that are mentioned get none. May run twice.
 */
export async function addIssueTodos(deps: Deps, cause: Cause, messageId: string): Promise<void> {
  const { store } = deps;
  const { projectId, iid, authorId, assignedIds, finished, noteId } = cause;
  const [issue, project] = await Promise.all([
    store.issues.get({ projectId, iid }),
    store.projects.get(projectId),
  ]);
  if (issue === undefined || project === undefined) return;
  const target = targetOf(issue);
  if (finished) {
    const todo = await store.todos.about(authorId, target);
    if (todo?.state === 'pending') await store.todos.finish([todo], deps.now());
  }
  const actions = new Map<number, TodoAction>();
  const mentionedIds = new Set<number>();
  const thread = { projectId, noteable: { kind: 'issue', id: issue.id } } as const;
  const note = noteId === undefined ? undefined : await store.notes.get({ ...thread, id: noteId });
  const text = cause.described ? (noteId === undefined ? issue.description : (note?.body ?? null)) : null;
  if (text !== null) {
    const former = await formerNames(deps, cause.former ?? []);
    const { addressed, mentioned } = await mentionedUsers(deps, await store.texts.read(text), former);
    for (const id of mentioned) {
      mentionedIds.add(id);
      actions.set(id, 'mentioned');
    }
    for (const id of addressed) actions.set(id, 'directly_addressed');
  }
  for (const id of assignedIds) if (issue.assigneeIds.includes(id)) actions.set(id, 'assigned');
  // Authors know what they wrote; assigning oneself is a wish to be reminded.
  if (actions.get(authorId) !== 'assigned') actions.delete(authorId);
  const ids = [...actions.keys()];
  for (const user of await store.users.getMany(ids)) {
    if (user === undefined || user.state !== 'active') continue;
    const viewer = { kind: 'user', user } as const;
    const access = await projectAccess(viewer, project, new MembershipCache(deps));
    // An internal note is for those who may see the issue if it is confidential.
    const confidential = issue.confidential || note?.internal === true;
    if (access === undefined || !maySeeIssue(viewer, access, { ...issue, confidential })) continue;
    if (mentionedIds.has(user.id)) await store.threads.join(thread, user.id);
    const todo = {
      ...{ userId: user.id, authorId, action: actions.get(user.id)!, target },
      ...(note === undefined ? {} : { note: { id: note.id, internal: note.internal === true } }),
    };
    const once = store.processed.mark(`todos:${user.id}`, messageId, deps.now());
    await store.todos.add({ ...todo, createdAt: deps.now().toISOString() }, [once]);
  }
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
