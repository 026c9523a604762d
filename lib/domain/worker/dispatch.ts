import type { SearchKind } from '../../records/search.ts';
import { UNLINK_JOB } from '../../store/forks/forks.ts';
import { DELETE_JOB, MOVE_JOB } from '../../store/groups/groups.ts';
import { MAINTENANCE, message, messageAt, outboxWrite } from '../../store/outbox/outbox.ts';
import { secondLook } from '../../store/repository/unlisted-pack-gc.ts';
import { MEASURE_JOB } from '../../store/statistics/statistics.ts';
import { BOT_JOB } from '../../store/tokens/tokens.ts';
import { notifyOfRequest, REQUESTED_JOB } from '../access-requests/access-requests.ts';
import type { Requester } from '../audit-events/event.ts';
import { REFRESH_ALL_JOB, REFRESH_JOB, refreshAll, refreshList } from '../billable-members/refresh.ts';
import { deleteMerged } from '../branches/branches.ts';
import { DELETION_JOB, deleteDue, emptyGroup } from '../deletion/mark-and-delete.ts';
import { removeProject, removeUser, sweepRepository } from '../deletion/purge.ts';
import type { Deps } from '../deps.ts';
import { unlinkForks } from '../forks/visibility.ts';
import { takeInvitations } from '../invitations/invitations.ts';
import { CONFIRMED_JOB } from '../invitations/on-confirmed.ts';
import type { Job } from '../job.ts';
import { maintainRepository } from '../maintenance/run.ts';
import { LEAVE_JOB, removeDescendantMemberships } from '../members/cascade-removal.ts';
import { EXPIRY_JOB, endMembership } from '../members/expiry.ts';
import { NAMESPACE_MOVE_JOB } from '../namespaces/rename.ts';
import {
  type Mover,
  moveMails,
  NOTIFY_JOB,
  type Notification,
  notificationMessage,
} from '../notifications/enqueue.ts';
import { sendNotification } from '../notifications/send.ts';
import { measureProject } from '../statistics/measure.ts';
import { removeBot } from '../tokens/bots.ts';
import { LIFETIME_JOB, shortenTokenLifetimes } from '../tokens/lifetimes.ts';
import { DORMANT_JOB, deactivateDormant } from '../users/dormant.ts';

/**
 * Does the work of one message. Every job may come twice, late, or after its subject is gone.
 * @throws what went wrong: the message comes again
 */
export async function runJob(deps: Deps, job: Job): Promise<void> {
  const run = JOBS[job.type];
  if (run === undefined) throw new Error(`no job is called ${job.type}`);
  await run(deps, job);
}

/** A batch of ten such jobs ends well within the worker's fifteen minutes. */
const SLICE_MS = 45_000;

/** Works until the slice is over, then asks for another in a message of its own. */
async function inSlices(deps: Deps, job: Job, work: (deadline: number) => Promise<boolean>): Promise<void> {
  if (await work(Date.now() + SLICE_MS)) return;
  await later(deps, job, 0);
}

/** What is in the way goes by itself. */
const BLOCKED_MS = 5_000;

async function later({ store, now }: Deps, { type, body }: Job, ms: number): Promise<void> {
  if (ms === 0) return store.outbox.commit([], [message(MAINTENANCE, type, body)]);
  const at = new Date(now().getTime() + ms);
  await store.table.transact([outboxWrite(messageAt(MAINTENANCE, type, body, at))]);
}

/** The rest of what a job walks through; undefined: there is none. */
async function goOn(deps: Deps, job: Job, left: object | undefined): Promise<void> {
  if (left !== undefined) await later(deps, { ...job, body: { ...left } }, 0);
}

const JOBS: Readonly<Record<string, (deps: Deps, job: Job) => Promise<void>>> = {
  'search.index': async (deps, { body }) => {
    const id = numberOf(body, 'id');
    const kind = body['kind'];
    if (kind !== 'project' && kind !== 'user' && kind !== 'group') throw new Error('a message without kind');
    await deps.store.search.index(kind, id, () => searchable(deps, kind, id));
  },
  [DELETION_JOB]: (deps, { body }) => {
    const kind = body['kind'];
    if (kind !== 'project' && kind !== 'group') throw new Error('a message without kind');
    const due = { dueOn: textOf(body, 'dueOn'), ...byOf(body) };
    return deleteDue(deps, { kind, id: numberOf(body, 'id') }, due);
  },
  'project.delete': async (deps, job) => {
    const projectId = numberOf(job.body, 'projectId');
    const repository = repositoryOf(job.body);
    await inSlices(deps, job, (deadline) => removeProject(deps, { projectId, ...repository }, deadline));
  },
  [UNLINK_JOB]: async (deps, job) => {
    const about = { projectId: numberOf(job.body, 'projectId'), before: textOf(job.body, 'before') };
    await inSlices(deps, job, (deadline) => unlinkForks(deps, about, deadline));
  },
  'repository.sweep': async (deps, job) => {
    await inSlices(deps, job, (deadline) => sweepRepository(deps, repositoryOf(job.body), deadline));
  },
  'network.look': (deps, { body }) =>
    secondLook(
      deps.store,
      {
        networkId: textOf(body, 'networkId'),
        repositoryId: textOf(body, 'repositoryId'),
        unlisted: (body['unlisted'] ?? []) as readonly string[],
        since: textOf(body, 'since'),
      },
      deps.now(),
    ),
  'repository.maintain': async (deps, job) => {
    const repositoryId = textOf(job.body, 'repositoryId');
    const [collect, refs] = [job.body['collect'] === true, job.body['refs'] === true];
    await inSlices(deps, job, (deadline) =>
      maintainRepository(deps, { repositoryId, collect, refs }, deadline),
    );
  },
  [BOT_JOB]: (deps, { body }) => removeBot(deps, { userId: numberOf(body, 'userId') }),
  [MEASURE_JOB]: (deps, { body }) => measureProject(deps, numberOf(body, 'projectId')),
  'user.delete': async (deps, job) => {
    const userId = numberOf(job.body, 'userId');
    const last = job.body['last'] === true;
    const hard = job.body['hard'] === true ? { hard: true } : {};
    const removal = { userId, last, ...hard, ...byOf(job.body) };
    await inSlices(deps, job, (deadline) => removeUser(deps, removal, deadline));
  },
  [MOVE_JOB]: async (deps, job) => {
    const groupId = numberOf(job.body, 'groupId');
    const progress = await deps.store.groupMoves.settle(groupId, Date.now() + SLICE_MS, moverIn(job.body));
    const next = { more: 0, blocked: BLOCKED_MS };
    if (progress !== 'done') await later(deps, job, next[progress]);
  },
  [NAMESPACE_MOVE_JOB]: async (deps, job) => {
    const last = job.body['last'] === true;
    const until = { deadline: Date.now() + SLICE_MS, last };
    const progress = await deps.store.ownNamespaces.settle(
      numberOf(job.body, 'userId'),
      until,
      moverIn(job.body),
    );
    const next = { more: 0, blocked: BLOCKED_MS };
    if (progress !== 'done') await later(deps, job, next[progress]);
  },
  [DELETE_JOB]: async (deps, job) => {
    const groupId = numberOf(job.body, 'groupId');
    await inSlices(deps, job, (deadline) => emptyGroup(deps, { groupId, ...byOf(job.body) }, deadline));
  },
  [LEAVE_JOB]: async (deps, { body }) => {
    await removeDescendantMemberships(deps, {
      groupId: numberOf(body, 'groupId'),
      userId: numberOf(body, 'userId'),
      until: textOf(body, 'until'),
      ...byOf(body),
    });
  },
  [EXPIRY_JOB]: (deps, { body }) =>
    endMembership(deps, {
      kind: body['kind'] === 'group' ? 'group' : 'project',
      id: numberOf(body, 'id'),
      userId: numberOf(body, 'userId'),
      expiresAt: textOf(body, 'expiresAt'),
    }),
  [REQUESTED_JOB]: (deps, { id, body }) =>
    notifyOfRequest(deps, {
      id,
      source: { kind: body['kind'] === 'group' ? 'group' : 'project', id: numberOf(body, 'id') },
      userId: numberOf(body, 'userId'),
      baseUrl: textOf(body, 'baseUrl'),
    }),
  [NOTIFY_JOB]: async (deps, { id, body }) => {
    const notification = body as unknown as Notification;
    const until = Date.now() + SLICE_MS;
    const left = await sendNotification(deps, notification.id ?? id, notification, until);
    if (left !== undefined) await deps.store.outbox.commit([], [notificationMessage(left)]);
  },
  [REFRESH_ALL_JOB]: (deps) => refreshAll(deps),
  [REFRESH_JOB]: (deps, { body }) => refreshList(deps, numberOf(body, 'groupId')),
  [DORMANT_JOB]: async (deps, job) => {
    const walk = { after: 0, ...job.body };
    await goOn(deps, job, await deactivateDormant(deps, walk, Date.now() + SLICE_MS));
  },
  [LIFETIME_JOB]: async (deps, job) => {
    const walk = { after: 0, ...job.body, days: numberOf(job.body, 'days') };
    await goOn(deps, job, await shortenTokenLifetimes(deps, walk, Date.now() + SLICE_MS));
  },
  [CONFIRMED_JOB]: async (deps, job) => {
    await inSlices(deps, job, (deadline) => takeInvitations(deps, textOf(job.body, 'email'), deadline));
  },
  'branches.delete-merged': (deps, { body }) =>
    deleteMerged(deps, {
      projectId: numberOf(body, 'projectId'),
      userId: body['userId'] as number | undefined,
    }),
};

/** What is told of the projects that come along. */
const moverIn = (body: Readonly<Record<string, unknown>>) => moveMails(body['mover'] as Mover | undefined);

/** Who asked for it, where that is said. */
function byOf(body: Readonly<Record<string, unknown>>): { readonly by?: Requester } {
  const by = body['by'] as Requester | undefined;
  return by === undefined ? {} : { by };
}

function repositoryOf(body: Readonly<Record<string, unknown>>) {
  const networkId = body['networkId'] as string | undefined;
  return { repositoryId: textOf(body, 'repositoryId'), ...(networkId === undefined ? {} : { networkId }) };
}

/** The texts that a search for it may hold a part of; undefined when it is not there (any more). */
async function searchable({ store }: Deps, kind: SearchKind, id: number): Promise<string[] | undefined> {
  if (kind === 'user') {
    const user = await store.users.get(id);
    return user && [user.name, user.username];
  }
  const named = await (kind === 'project' ? store.projects.get(id) : store.groups.get(id));
  return named && [named.name, named.path];
}

function numberOf(body: Readonly<Record<string, unknown>>, name: string): number {
  const value = body[name];
  if (typeof value !== 'number') throw new Error(`a message without ${name}`);
  return value;
}

function textOf(body: Readonly<Record<string, unknown>>, name: string): string {
  const value = body[name];
  if (typeof value !== 'string' || value === '') throw new Error(`a message without ${name}`);
  return value;
}
