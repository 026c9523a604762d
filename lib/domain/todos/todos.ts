/** To-dos: what a user has to look at, why, and when it is done. */
import type { AlertRecord } from '../../records/alerts.ts';
import { byId } from '../../records/by-id.ts';
import type { TodoAction, TodoRecord, TodoState, TodoTarget } from '../../records/todos.ts';
import type { UserRecord } from '../../records/users.ts';
import { cutPage, MAX_TOTAL, type Page, type PageRequest } from '../../store/table/paging.ts';
import { can } from '../access/permissions.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import type { ProjectAccess } from '../access/types.ts';
import { maySeeIssue } from '../access/visible-issues.ts';
import type { Actor, Viewer } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { recordNotFound } from '../errors.ts';
import type { FoundIssue } from '../issues/related.ts';
import type { FoundMergeRequest } from '../merge-requests/related.ts';

type SignedIn = Extract<Actor, { kind: 'user' }>;

/** What a to-do is about, which its user may see. */
export type FoundTarget =
  | (FoundIssue & { readonly kind: 'issue' })
  | (FoundMergeRequest & { readonly kind: 'merge-request' })
  | { readonly kind: 'alert'; readonly alert: AlertRecord; readonly access: ProjectAccess };

/** A to-do whose target its user may see, with what is shown of it. */
export type ShownTodo = FoundTarget & { readonly todo: TodoRecord; readonly author: UserRecord };

export interface TodoQuery extends PageRequest {
  readonly state: TodoState;
  readonly action?: TodoAction | undefined;
  readonly authorId?: number | undefined;
  readonly projectId?: number | undefined;
  readonly groupId?: number | undefined;
  /** Kind of the target; `none`: one that has no to-dos. */
  readonly kind?: TodoTarget['kind'] | 'none' | undefined;
}

const PAGE_ROWS = 200;

/** Returns a user's to-dos, the newest first, without those about what they may no longer see. */
export async function listTodos(deps: Deps, actor: SignedIn, query: TodoQuery): Promise<Page<ShownTodo>> {
  if (query.kind === 'none') return { items: [], total: 0, more: false };
  const { state, action, authorId, projectId, groupId, kind } = query;
  const userId = actor.user.id;
  const rows = new Map<number, TodoRecord>();
  async function* positions() {
    for await (const todo of deps.store.todos.ofUser(userId, state, PAGE_ROWS, query.rows?.after?.id)) {
      rows.set(todo.id, todo);
      yield { sort: '', id: todo.id };
    }
  }
  const filtered = [action, authorId, projectId, groupId, kind].some((filter) => filter !== undefined);
  const matches = ({ todo, access: { project } }: ShownTodo) =>
    (action === undefined || todo.action === action) &&
    (kind === undefined || todo.target.kind === kind) &&
    (authorId === undefined || todo.authorId === authorId) &&
    (projectId === undefined || todo.target.projectId === projectId) &&
    (groupId === undefined || project.ancestorIds.includes(groupId));
  const load = (ids: readonly number[]) =>
    shownTodos(
      deps,
      actor,
      ids.map((id) => rows.get(id)!),
    );
  // Those that are not shown have no place on a page. Where there is another page, its rows are counted unseen.
  const few = { batchSize: query.perPage + 1, countWalk: 0 };
  const [page, all] = await Promise.all([
    cutPage(positions(), query, { load, where: matches, ...(filtered ? {} : few) }),
    filtered || !query.count ? undefined : deps.store.todos.count(userId, state, MAX_TOTAL),
  ]);
  return { ...page, total: page.total ?? all };
}

/** To-dos that are looked at for a count: of more also those are counted that their user may not see any more. */
const LOOKED_AT = 100;

/** Counts the caller's pending to-dos, up to 10,000. */
export async function countPendingTodos(deps: Deps, actor: SignedIn): Promise<number> {
  const { todos } = deps.store;
  const some: TodoRecord[] = [];
  for await (const todo of todos.ofUser(actor.user.id, 'pending', LOOKED_AT + 1)) {
    some.push(todo);
    if (some.length > LOOKED_AT) return (await todos.count(actor.user.id, 'pending', MAX_TOTAL)) ?? MAX_TOTAL;
  }
  const shown = await shownTodos(deps, actor, some);
  return shown.filter((todo) => todo !== undefined).length;
}

/** One batch each for projects, issues, merge requests, alerts and authors. @returns undefined for what the user may not see */
async function shownTodos(
  deps: Deps,
  actor: SignedIn,
  todos: readonly TodoRecord[],
): Promise<(ShownTodo | undefined)[]> {
  const projectIds = [...new Set(todos.map(({ target }) => target.projectId))];
  const ofKind = (kind: TodoTarget['kind']) =>
    todos.filter(({ target }) => target.kind === kind).map(({ target }) => target);
  const [accesses, issues, mergeRequests, alerts, authors] = await Promise.all([
    projectAccesses(deps, actor, projectIds),
    deps.store.issues.getMany(ofKind('issue')),
    deps.store.mergeRequests.getMany(ofKind('merge-request')),
    deps.store.alerts.getMany(ofKind('alert')),
    deps.store.users.shown(todos.map(({ authorId }) => authorId)),
  ]);
  const issueOf = byId(issues);
  const mergeRequestOf = byId(mergeRequests);
  return todos.map((todo, i) => {
    const access = accesses[projectIds.indexOf(todo.target.projectId)];
    const author = authors[i];
    if (access === undefined || author === undefined) return undefined;
    const internal = todo.note?.internal === true;
    if (todo.target.kind === 'issue') {
      const issue = issueOf.get(todo.target.id);
      // An internal note is for those who may see the issue if it is confidential.
      return issue !== undefined &&
        maySeeIssue(actor, access, { ...issue, confidential: issue.confidential || internal })
        ? { kind: 'issue', todo, issue, access, author }
        : undefined;
    }
    if (todo.target.kind === 'alert') {
      const { projectId, iid } = todo.target;
      const alert = alerts.find((each) => each?.projectId === projectId && each.iid === iid);
      return alert !== undefined && maySeeAlert(actor, access)
        ? { kind: 'alert', todo, alert, access, author }
        : undefined;
    }
    const mergeRequest = mergeRequestOf.get(todo.target.id);
    return mergeRequest !== undefined && maySeeMergeRequest(actor, access, internal)
      ? { kind: 'merge-request', todo, mergeRequest, access, author }
      : undefined;
  });
}

/** Whether a user may see merge requests of a project, and internal notes on them where the to-do is about one. */
export const maySeeMergeRequest = (viewer: Viewer, access: ProjectAccess, internal: boolean): boolean =>
  can(viewer, access, 'read_merge_requests') &&
  (!internal || can(viewer, access, 'read_confidential_issues'));

export const maySeeAlert = (viewer: Viewer, access: ProjectAccess): boolean =>
  can(viewer, access, 'read_alerts');

/**
 * Returns what the notes say that caused to-dos, in the order of these; undefined where none did, or the note is gone or
 * too long for its row.
 */
export async function notesOf(
  { store }: Deps,
  todos: readonly TodoRecord[],
): Promise<(string | undefined)[]> {
  const caused = todos.filter(({ note }) => note !== undefined);
  const notes = await store.notes.getMany(
    caused.map(({ target: { kind, id, projectId }, note }) => ({
      projectId,
      noteable: { kind, id },
      id: note!.id,
    })),
  );
  return todos.map((todo) => {
    const body = notes[caused.indexOf(todo)]?.body;
    return typeof body === 'string' ? body : undefined;
  });
}

/** Adds a to-do for the caller about what they may see. @returns undefined if there is one */
export const markTarget = (
  deps: Deps,
  actor: SignedIn,
  target: TodoTarget,
): Promise<TodoRecord | undefined> =>
  deps.store.todos.add({
    userId: actor.user.id,
    authorId: actor.user.id,
    action: 'marked',
    target,
    createdAt: deps.now().toISOString(),
  });

export const targetOf = <K extends TodoTarget['kind']>(
  kind: K,
  { id, projectId, iid }: Pick<TodoTarget, 'id' | 'projectId' | 'iid'>,
) => ({ kind, id, projectId, iid });

/** Marks a to-do as done; one that is done stays so. @throws `404 Not found` */
export async function finishTodo(deps: Deps, actor: SignedIn, id: number): Promise<ShownTodo> {
  const todo = await deps.store.todos.get(actor.user.id, id);
  if (todo === undefined) throw recordNotFound();
  if (todo.state === 'pending') await deps.store.todos.finish([todo], deps.now());
  const [shown] = await shownTodos(deps, actor, [(await deps.store.todos.get(actor.user.id, id)) ?? todo]);
  if (shown === undefined) throw recordNotFound();
  return shown;
}

/** To-dos that the request itself marks as done; a worker does the rest. */
const AT_ONCE = 150;

/** Marks all to-dos of the caller as done: those that there are now. */
export async function finishAll(deps: Deps, { user }: SignedIn): Promise<void> {
  const some: TodoRecord[] = [];
  for await (const todo of deps.store.todos.ofUser(user.id, 'pending', AT_ONCE + 1)) {
    some.push(todo);
    if (some.length > AT_ONCE) break;
  }
  if (some.length > AT_ONCE) await deps.store.todos.finishLater(user.id, some[0]!.id);
  await deps.store.todos.finish(some.slice(0, AT_ONCE), deps.now());
}
