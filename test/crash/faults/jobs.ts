import { ulid } from 'ulid';
import { deps } from '../../../functions/deps.ts';
import { removeWhole } from '../../../lib/domain/deletion/mark-and-delete.ts';
import { NOTIFY_JOB } from '../../../lib/domain/notifications/enqueue.ts';
import { StoreUnavailable } from '../../../lib/store/errors.ts';
import { MAINTENANCE, message, outboxWrite } from '../../../lib/store/outbox/outbox.ts';
import type { UserChange } from '../../../lib/store/users/users.ts';
import { changeSettings } from '../../harness/settings.ts';
import type { Operation, Told, Work } from './driver.ts';
import { refOf } from './endpoints.ts';
import type { Ground, Scene } from './scene.ts';
import { countOf, flip, found } from './sent.ts';

const HOUR = 3600_000;

/** What the workers do behind a request's back. Whatever happens, the job comes again and then succeeds. */
export const jobs: readonly Operation[] = [
  {
    name: 'job: packs become one',
    costly: true,
    async prepare(scene) {
      const ground = await scene.ownGround();
      for (let i = 0; i < 7; i++) await addFile(scene, ground, `many/${i}.txt`);
      const before = (await packsOf(scene, ground)).length;
      return job(scene, 'repository.maintain', { repositoryId: ground.repositoryId }, async () => {
        const { length } = await packsOf(scene, ground);
        return length === before ? 'before' : length < before ? 'after' : `${length} packs of ${before}`;
      });
    },
  },
  {
    name: 'job: garbage is collected and what was replaced is removed',
    costly: true,
    async prepare(scene) {
      const ground = await scene.ownGround();
      const { repositoryId } = ground;
      const { token } = ground.owner;
      await scene.done('DELETE', `/projects/${ground.id}/repository/branches/side`, { token });
      await runNow(scene, 'maintenance', 'repository.maintain', { repositoryId, collect: true });
      const work = job(scene, 'repository.maintain', { repositoryId }, async () => {
        const sources = (await packsOf(scene, ground)).map(({ source }) => source);
        return sources.includes('unreachable-garbage') ? 'after' : sources.includes('gc') ? 'half' : 'before';
      });
      return later(work, 50 * HOUR);
    },
  },
  {
    name: 'job: refs become a table',
    costly: true,
    async prepare(scene) {
      const ground = await scene.ownGround();
      const { repositoryId } = ground;
      const { repositories } = scene.store;
      return {
        // As the job does with many; a few are as good here.
        run: () => told(deps().store.repositories.open(repositoryId).foldRefs()),
        async state() {
          const { refs } = await repositories.open(repositoryId).all();
          if (refs.length !== 3) return `${refs.length} refs`;
          return (await repositories.guard(repositoryId))!.refTable === '' ? 'before' : 'after';
        },
      };
    },
  },
  {
    name: 'job: a deleted project is removed',
    costly: true,
    async prepare(scene) {
      const ground = await scene.ownGround();
      const project = (await scene.store.projects.get(ground.id))!;
      await removeWhole(deps(), project);
      const { repositoryId } = ground;
      const body = { projectId: ground.id, repositoryId };
      return job(scene, 'project.delete', body, async () => {
        const gone = (await scene.store.projects.getEvenDeleted(ground.id)) === undefined;
        const { keys } = await scene.store.blobs.list(`networks/${repositoryId}/`);
        return gone ? (keys.length === 0 ? 'after' : `${keys.length} objects left`) : 'before';
      });
    },
  },
  {
    name: 'job: mail of a comment is promised to each reader',
    costly: true,
    async prepare(scene) {
      const ground = await scene.ownGround();
      const readers = [await scene.service.user(scene.fresh('reader')), await scene.guest()];
      const project = `/projects/${ground.id}`;
      const { token } = ground.owner;
      await scene.done('PUT', project, { token, json: { visibility: 'public' } });
      for (const reader of readers) {
        const options = { token: reader.token, json: { level: 'watch' } };
        await scene.done('PUT', `${project}/notification_settings`, options);
      }
      const [commit] = ground.main;
      const path = `${project}/repository/commits/${commit}/comments`;
      await scene.done('POST', path, { token, json: { note: 'heard by two' } });
      const page = { page: 1, perPage: 100, count: false };
      const { items } = await scene.store.notes.list(ground.id, { kind: 'commit', id: commit }, page);
      const happening = { kind: 'note', projectId: ground.id, commit, noteId: items.at(-1)!.id } as const;
      const id = scene.fresh('told');
      const body = { id, actorId: ground.owner.id, baseUrl: scene.service.url, happening };
      return job(scene, NOTIFY_JOB, body, async () => {
        const marks = readers.map((reader) => `${id}#${reader.id}`);
        const { size } = await scene.store.processed.filterHandled('notification', marks);
        return size === 0 ? 'before' : size === marks.length ? 'after' : 'half';
      });
    },
  },
  {
    name: 'job: a project is measured',
    async prepare(scene) {
      const { token } = await scene.owner();
      const path = scene.fresh('sized');
      const group = await scene.done('POST', '/groups', { token, json: { name: path, path } });
      const json = { name: path, namespace_id: group.id, initialize_with_readme: true };
      const { id } = await scene.done('POST', '/projects', { token, json });
      const { statistics } = scene.store;
      return job(scene, 'project.measure', { projectId: id }, async () => {
        const [measured, [sum]] = await Promise.all([
          statistics.ofProject(id),
          statistics.ofGroups([group.id]),
        ]);
        if (measured === undefined) return sum === 0 ? 'before' : `a sum of ${sum} without statistics`;
        return measured.commitCount === 1 && measured.repositorySize === sum ? 'after' : 'half';
      });
    },
  },
  {
    name: 'job: a project whose day has come is deleted',
    async prepare(scene) {
      const { id, owner } = await scene.ownGround();
      const { projects } = scene.store;
      const dueOn = '2021-01-01';
      const deletion = { askedAt: '2020-12-25T00:00:00.000Z', dueOn };
      await projects.update((await projects.get(id))!, { archived: true, deletion });
      return job(scene, 'deletion.due', { kind: 'project', id, dueOn }, async () =>
        flip(await found(scene, `/projects/${id}`, owner.token)),
      );
    },
  },
  {
    name: 'job: a membership whose day has come ends, and is told once',
    async prepare(scene) {
      const { id, owner } = await scene.ground();
      const member = await scene.service.user(scene.fresh('ending'));
      const source = { kind: 'project', id } as const;
      const { members } = scene.store;
      const expiresAt = '2021-01-01';
      const created = { createdAt: '2020-01-01T00:00:00.000Z', createdById: owner.id };
      await members.add({ source, userId: member.id, accessLevel: 30, expiresAt, ...created });
      return job(scene, 'member.expires', { ...source, userId: member.id, expiresAt }, async () => {
        const row = await members.getEvenExpired(source, member.id);
        const path = `/projects/${id}/events?action=expired`;
        const all: { author_id: number }[] = await scene.done('GET', path, { token: owner.token });
        const told = all.filter((event) => event.author_id === member.id).length;
        return row !== undefined && told === 0
          ? 'before'
          : row === undefined && told === 1
            ? 'after'
            : 'half';
      });
    },
  },
  {
    name: 'job: whoever was not here for long is deactivated, and it is told once',
    async prepare(scene) {
      await changeSettings(scene.service, { deactivate_dormant_users: true });
      const { id } = await scene.service.user(scene.fresh('dormant'));
      const { users } = scene.store;
      await users.update((await users.get(id))!, { createdAt: '2020-01-01T00:00:00.000Z' } as UserChange);
      return job(scene, 'users.dormant', { after: id - 1 }, async () => {
        const { state } = (await users.get(id))!;
        const path = `/audit_events?entity_type=User&entity_id=${id}`;
        const all = await scene.done('GET', path, { token: scene.service.rootToken });
        const told = all.filter(
          ({ details }: { details: { custom_message?: string } }) =>
            details.custom_message === 'Deactivated user',
        ).length;
        if ((state === 'deactivated' ? 1 : 0) !== told) return `${state}, told ${told} times`;
        return told === 1 ? 'after' : 'before';
      });
    },
  },
  {
    name: 'job: the bot of a revoked token is removed',
    async prepare(scene) {
      const { id, owner } = await scene.ground();
      const json = { name: scene.fresh('bot'), scopes: ['api'] };
      const path = `/projects/${id}/access_tokens`;
      const made = await scene.done('POST', path, { token: owner.token, json });
      await scene.done('DELETE', `${path}/${made.id}`, { token: owner.token });
      return job(scene, 'bot.remove', { userId: made.user_id }, async () =>
        (await scene.store.users.get(made.user_id)) === undefined ? 'after' : 'before',
      );
    },
  },
  {
    name: 'job: what waits for an address becomes a membership',
    async prepare(scene) {
      const { token } = await scene.service.user(scene.fresh('host'));
      const path = scene.fresh('inviting');
      const { id } = await scene.done('POST', '/groups', { token, json: { name: path, path } });
      const someone = await scene.service.user(scene.fresh('invited'));
      const email = `${scene.fresh('waiting')}@example.com`;
      const json = { email, access_level: 20 };
      await scene.done('POST', `/groups/${id}/invitations`, { token, json });
      // Theirs, and the promise of what is to come of it is lost.
      const theirs = { email, skip_confirmation: true };
      await scene.done('POST', `/users/${someone.id}/emails`, {
        token: scene.service.rootToken,
        json: theirs,
      });
      return job(scene, 'email.confirmed', { email }, async () => {
        const waits = countOf(await scene.done('GET', `/groups/${id}/invitations`, { token }));
        const is = await found(scene, `/groups/${id}/members/${someone.id}`, token);
        return waits === is ? `${is}, and it ${waits === 'after' ? 'waits' : 'is gone'}` : is;
      });
    },
  },
  {
    name: 'job: a list of billable members is made',
    async prepare(scene) {
      const { token } = await scene.owner();
      const path = scene.fresh('billed');
      const { id } = await scene.done('POST', '/groups', { token, json: { name: path, path } });
      // As the first request for it does.
      await scene.store.billableLists.getAndExtend(id, new Date());
      return job(scene, 'billable.refresh', { groupId: id }, async () =>
        (await scene.store.billableLists.get(id, new Date())) === undefined ? 'before' : 'after',
      );
    },
  },
  {
    name: 'job: a person’s projects follow another username',
    costly: true,
    async prepare(scene) {
      const { id: userId, token } = await scene.service.user(scene.fresh('mover'));
      const name = scene.fresh('moved');
      const { id } = await scene.done('POST', '/projects', { token, json: { name } });
      const { users, projects } = scene.store;
      const user = (await users.get(userId))!;
      const username = scene.fresh('arrived');
      await users.update(user, { username, movedFrom: user.username });
      return job(scene, 'namespace.move', { userId, last: true }, async () => {
        const there = (await projects.get(id))!.fullPath === `${username}/${name}`;
        const arrived = (await users.get(userId))!.movedFrom === null;
        if (arrived && !there) return 'arrived without its projects';
        // Until then it is found below both.
        return arrived ? 'after' : 'before';
      });
    },
  },
  {
    name: 'job: what is inside a group follows it, and is told of',
    costly: true,
    async prepare(scene) {
      const { token } = await scene.owner();
      const [path, to, name] = [scene.fresh('before'), scene.fresh('behind'), scene.fresh('along')];
      const { id: groupId } = await scene.done('POST', '/groups', { token, json: { name: path, path } });
      const { id } = await scene.done('POST', '/projects', { token, json: { name, namespace_id: groupId } });
      const { groups, projects } = scene.store;
      const mover = { actorId: null, baseUrl: scene.service.url };
      await groups.update((await groups.get(groupId))!, { path: to }, { parents: [], mover });
      return job(scene, 'group.move', { groupId, mover }, async () => {
        const there = (await projects.get(id))!.fullPath === `${to}/${name}`;
        const arrived = (await groups.get(groupId))!.movedFrom === null;
        if (arrived && !there) return 'arrived without what is inside';
        // Until then it is found below both.
        return arrived ? 'after' : 'before';
      });
    },
  },
  {
    name: 'job: a less visible project has no forks',
    costly: true,
    async prepare(scene) {
      const { id, owner } = await scene.ownGround();
      const { token } = owner;
      const { id: fork } = await scene.done('POST', '/projects', {
        token,
        json: { name: scene.fresh('fork') },
      });
      await scene.done('POST', `/projects/${fork}/fork/${id}`, { token });
      const before = new Date().toISOString();
      return job(scene, 'project.unlink-forks', { projectId: id, before }, async () => {
        const [source, one] = await Promise.all([id, fork].map((each) => scene.store.projects.get(each)));
        const related = one!.forkedFromId === id;
        if (related !== (source!.forksCount === 1)) return 'half';
        return related ? 'before' : 'after';
      });
    },
  },
  {
    name: 'job: a project can be found',
    costly: true,
    async prepare(scene) {
      const { id, owner, fullPath } = await scene.ownGround();
      const kind = 'project';
      await scene.store.search.index(kind, id, async () => undefined);
      const search = fullPath.split('/')[1]!;
      return job(scene, 'search.index', { kind, id }, async () => {
        const found = await scene.done('GET', `/projects?search=${search}&per_page=100`, {
          token: owner.token,
        });
        return found.some((project: { id: number }) => project.id === id) ? 'after' : 'before';
      });
    },
  },
  {
    name: 'job: merged branches are deleted',
    costly: true,
    async prepare(scene) {
      const ground = await scene.ownGround();
      const { token } = ground.owner;
      const json = { branch: 'merged', ref: 'main' };
      await scene.done('POST', `/projects/${ground.id}/repository/branches`, { token, json });
      return job(scene, 'branches.delete-merged', { projectId: ground.id }, async () => {
        const merged = await refOf(scene, ground, 'refs/heads/merged');
        const side = await refOf(scene, ground, 'refs/heads/side');
        return side === ground.side ? (merged === undefined ? 'after' : 'before') : `side at ${side}`;
      });
    },
  },
  {
    name: 'job: what a late writer left of a deleted project is removed',
    costly: true,
    async prepare(scene) {
      const { id, repositoryId } = await scene.ownGround();
      await removeWhole(deps(), (await scene.store.projects.get(id))!);
      await runNow(scene, 'maintenance', 'project.delete', { projectId: id, repositoryId });
      const folder = `networks/${repositoryId}/packs/${repositoryId}/`;
      await scene.store.blobs.put(`${folder}${ulid()}.pack`, Buffer.from('late'));
      return job(scene, 'repository.sweep', { repositoryId }, async () => {
        const { keys } = await scene.store.blobs.list(folder);
        return keys.length === 0 ? 'after' : 'before';
      });
    },
  },
  {
    name: 'the sweep of promises',
    reads: true,
    async prepare(scene) {
      const { id, owner, fullPath } = await scene.ownGround();
      const kind = 'project';
      await scene.settle();
      await scene.store.search.index(kind, id, async () => undefined);
      const promise = outboxWrite(message(MAINTENANCE, 'search.index', { kind, id }));
      await scene.store.table.put(promise);
      return {
        run: () => told(scene.service.host.invoke('outbox-sweep', { olderThan: 0 })),
        async state() {
          const { pk, sk } = promise.put as Record<string, string>;
          if ((await scene.store.table.get({ pk: pk!, sk: sk! })) !== undefined) return 'before';
          await scene.settle();
          const search = fullPath.split('/')[1]!;
          const found = await scene.done('GET', `/projects?search=${search}`, { token: owner.token });
          return found.some((one: { id: number }) => one.id === id) ? 'after' : 'the promise is lost';
        },
      };
    },
  },
];

/** A message of the maintenance queue. */
const job = (
  scene: Scene,
  type: string,
  body: Readonly<Record<string, unknown>>,
  state: () => Promise<string>,
): Work => ({ run: () => runNow(scene, 'maintenance', type, body), state });

/** Has a worker do a job, as if its message had come. */
export const runNow = (
  scene: Scene,
  worker: string,
  type: string,
  body: Readonly<Record<string, unknown>>,
): Promise<Told> => {
  const id = scene.fresh('message');
  return scene.attempt(worker, { MessageId: id, Body: JSON.stringify({ id, type, body }) });
};

async function told(work: Promise<unknown>): Promise<Told> {
  try {
    await work;
    return { kind: 'done' };
  } catch (error) {
    const words = String(error);
    return { kind: error instanceof StoreUnavailable ? 'unavailable' : 'wrong', words };
  }
}

/** The same on another day. */
function later(work: Work, milliseconds: number): Work {
  return {
    async run() {
      Object.assign(deps(), { now: () => new Date(Date.now() + milliseconds) });
      try {
        return await work.run();
      } finally {
        Object.assign(deps(), { now: () => new Date() });
      }
    },
    state: work.state,
  };
}

const packsOf = ({ store }: Scene, { repositoryId }: Ground) =>
  store.repositories.open(repositoryId).listPacks();

async function addFile(scene: Scene, ground: Ground, file_path: string): Promise<void> {
  const json = {
    branch: 'main',
    commit_message: file_path,
    actions: [{ action: 'create', file_path, content: file_path }],
  };
  await scene.done('POST', `/projects/${ground.id}/repository/commits`, { token: ground.owner.token, json });
}
