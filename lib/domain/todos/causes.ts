/** What makes to-dos: users are assigned, mentioned, or addressed at the beginning of a text. */
import type { TodoAction } from '../../records/todos.ts';
import { MembershipCache } from '../access/effective-level.ts';
import { projectAccess } from '../access/open-request.ts';
import type { Deps } from '../deps.ts';
import { maySeeIssue } from '../issues/visible.ts';
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
}

/**
 * Creates the to-dos that a change of an issue causes, for those who may see it as it is now; who is mentioned takes part
 * in its conversation. Groups that are mentioned get none. May run twice.
 */
export async function addIssueTodos(deps: Deps, cause: Cause, messageId: string): Promise<void> {
  const { store } = deps;
  const { projectId, iid, authorId, assignedIds, described, finished } = cause;
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
  if (described && issue.description !== null) {
    const text = await store.texts.read(issue.description);
    const { addressed, mentioned } = await mentionedUsers(deps, text);
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
    if (access === undefined || !maySeeIssue(viewer, access, issue)) continue;
    if (mentionedIds.has(user.id))
      await store.threads.join({ projectId, noteable: { kind: 'issue', id: issue.id } }, user.id);
    const todo = { userId: user.id, authorId, action: actions.get(user.id)!, target };
    const once = store.processed.mark(`todos:${user.id}`, messageId, deps.now());
    await store.todos.add({ ...todo, createdAt: deps.now().toISOString() }, [once]);
  }
}

/** Users whom a text mentions; those are addressed whose names it begins with. */
async function mentionedUsers({ store }: Deps, text: string) {
  const names = mentionsIn(text).slice(0, MAX_MENTIONED);
  const first = new Set(
    mentionsIn(/^\s*(?:@\S+[\s,]+(?:and\s+)?)*(?:@\S+)?/.exec(text.slice(0, 10_000))?.[0] ?? ''),
  );
  const holders = await store.names.holders('path', names);
  const ids = (all: readonly (number | undefined)[]) => all.filter((id) => id !== undefined);
  const users = holders.map((holder) => (holder?.type === 'user' && holder.current ? holder.id : undefined));
  return { mentioned: ids(users), addressed: ids(users.filter((_, i) => first.has(names[i]!))) };
}
