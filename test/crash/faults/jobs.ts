import { ulid } from 'ulid';
import { deps } from '../../../functions/deps.ts';
import { removeWhole } from '../../../lib/domain/deletion/mark-and-delete.ts';
import { NOTIFY_JOB } from '../../../lib/domain/notifications/enqueue.ts';
import { TAGS_DELETED_JOB } from '../../../lib/domain/repository/tag-releases.ts';
import { repositoryIdOf } from '../../../lib/records/repository-owner.ts';
import type { LongText } from '../../../lib/records/texts.ts';
import { EXPIRE_ARTIFACTS_JOB, SWEEP_ARTIFACTS_JOB } from '../../../lib/store/artifacts/artifacts.ts';
import { DELETE_ENVIRONMENT_JOB } from '../../../lib/store/environments/environments.ts';
import { EPIC_DATES_JOB } from '../../../lib/store/epics/dates.ts';
import { SETTLE_EPICS_JOB } from '../../../lib/store/epics/settle.ts';
import { StoreUnavailable } from '../../../lib/store/errors.ts';
import { CLOSES_NOTHING_JOB } from '../../../lib/store/merge-requests/closing.ts';
import { MENTIONS_JOB, MERGED_JOB, PUSHED_JOB } from '../../../lib/store/notes/mentions.ts';
import { REMOVE_NOTES_JOB } from '../../../lib/store/notes/notes.ts';
import { MAINTENANCE, message, outboxWrite } from '../../../lib/store/outbox/outbox.ts';
import { PACKAGE_FILES_JOB } from '../../../lib/store/packages/packages.ts';
import { issueKeys } from '../../../lib/store/row-keys/issues.ts';
import { packageFilesPartition } from '../../../lib/store/row-keys/packages.ts';
import { GUARD_STRIPES, guardKey } from '../../../lib/store/row-keys/repository.ts';
import { trackedPlace } from '../../../lib/store/row-keys/tracked.ts';
import { MEASURE_SNIPPET_JOB, REMOVE_SNIPPET_JOB } from '../../../lib/store/snippets/snippets.ts';
import { MAX_ROW_TEXT } from '../../../lib/store/texts/texts.ts';
import { UNASSIGN_ISSUES_JOB } from '../../../lib/store/tracked/unassign.ts';
import type { UserChange } from '../../../lib/store/users/users.ts';
import { changeSettings } from '../../harness/settings.ts';
import { sendArtifact } from '../../harness/small-runner.ts';
import type { Operation, Told, Work } from './driver.ts';
import { refOf } from './endpoints.ts';
import type { Fixtures, Ground } from './fixtures.ts';
import { taken } from './runner-endpoints.ts';
import { counted, countOf, flip, found } from './sent.ts';
import { withSnippet } from './snippet-endpoints.ts';

const HOUR = 3600_000;

/** What the workers do behind a request's back. Whatever happens, the job comes again and then succeeds. */
export const jobs: readonly Operation[] = [
  {
    name: 'job: packs become one',
    costly: true,
    async prepare(fixtures) {
      const ground = await fixtures.ownGround();
      for (let i = 0; i < 7; i++) await addFile(fixtures, ground, `many/${i}.txt`);
      const before = (await packsOf(fixtures, ground)).length;
      return job(fixtures, 'repository.maintain', { repositoryId: ground.repositoryId }, async () => {
        const { length } = await packsOf(fixtures, ground);
        return length === before ? 'before' : length < before ? 'after' : `${length} packs of ${before}`;
      });
    },
  },
  {
    name: 'job: garbage is collected and what was replaced is removed',
    costly: true,
    async prepare(fixtures) {
      const ground = await fixtures.ownGround();
      const { repositoryId } = ground;
      const { token } = ground.owner;
      await fixtures.done('DELETE', `/projects/${ground.id}/repository/branches/side`, { token });
      await runNow(fixtures, 'maintenance', 'repository.maintain', { repositoryId, collect: true });
      const work = job(fixtures, 'repository.maintain', { repositoryId }, async () => {
        const sources = (await packsOf(fixtures, ground)).map(({ source }) => source);
        return sources.includes('unreachable-garbage') ? 'after' : sources.includes('gc') ? 'half' : 'before';
      });
      return later(work, 50 * HOUR);
    },
  },
  {
    name: 'job: refs become a table',
    costly: true,
    async prepare(fixtures) {
      const ground = await fixtures.ownGround();
      const { repositoryId } = ground;
      const { repositories } = fixtures.store;
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
    async prepare(fixtures) {
      const ground = await fixtures.ownGround();
      const project = (await fixtures.store.projects.get(ground.id))!;
      await removeWhole(deps(), project);
      const { repositoryId } = ground;
      const body = { projectId: ground.id, repositoryId };
      return job(fixtures, 'project.delete', body, async () => {
        const gone = (await fixtures.store.projects.getEvenDeleted(ground.id)) === undefined;
        const { keys } = await fixtures.store.blobs.list(`networks/${repositoryId}/`);
        return gone ? (keys.length === 0 ? 'after' : `${keys.length} objects left`) : 'before';
      });
    },
  },
  {
    name: 'job: mail of a comment is promised to each reader',
    costly: true,
    async prepare(fixtures) {
      const ground = await fixtures.ownGround();
      const readers = [await fixtures.service.user(fixtures.fresh('reader')), await fixtures.guest()];
      const project = `/projects/${ground.id}`;
      const { token } = ground.owner;
      await fixtures.done('PUT', project, { token, json: { visibility: 'public' } });
      for (const reader of readers) {
        const options = { token: reader.token, json: { level: 'watch' } };
        await fixtures.done('PUT', `${project}/notification_settings`, options);
      }
      const [commit] = ground.main;
      const path = `${project}/repository/commits/${commit}/comments`;
      await fixtures.done('POST', path, { token, json: { note: 'heard by two' } });
      const page = { page: 1, perPage: 100, count: false };
      const { items } = await fixtures.store.notes.list(ground.id, { kind: 'commit', id: commit }, page);
      const happening = { kind: 'note', projectId: ground.id, commit, noteId: items.at(-1)!.id } as const;
      const id = fixtures.fresh('told');
      const body = { id, actorId: ground.owner.id, baseUrl: fixtures.service.url, happening };
      return job(fixtures, NOTIFY_JOB, body, async () => {
        const marks = readers.map((reader) => `${id}#${reader.id}`);
        const { size } = await fixtures.store.processed.filterHandled('notification', marks);
        return size === 0 ? 'before' : size === marks.length ? 'after' : 'half';
      });
    },
  },
  {
    name: 'job: an environment that is due is deleted, and its deployments behind it',
    async prepare(fixtures) {
      const { id, owner, main } = await fixtures.ground();
      const { token } = owner;
      const json = { environment: fixtures.fresh('place'), sha: main[1], ref: 'main', tag: false };
      const { environment } = await fixtures.done('POST', `/projects/${id}/deployments`, { token, json });
      await fixtures.done('POST', `/projects/${id}/environments/${environment.id}/stop`, { token });
      const { environments } = fixtures.store;
      const stopped = (await environments.get(id, environment.id))!;
      await environments.change(stopped, { deletedOn: '2020-01-01T00:00:00.000Z' }, new Date());
      const body = { projectId: id, environmentId: environment.id };
      return job(fixtures, DELETE_ENVIRONMENT_JOB, body, async () =>
        (await environments.get(id, environment.id)) === undefined ? 'after' : 'before',
      );
    },
  },
  {
    name: 'job: the files of a deleted package are deleted',
    async prepare(fixtures) {
      const { id, owner } = await fixtures.ground();
      const file = `/projects/${id}/packages/generic/${fixtures.fresh('package')}/1.0/file.txt`;
      const upload = { token: owner.token, json: { content: 'of the file' } };
      const { package_id: packageId } = await fixtures.done('PUT', `${file}?select=package_file`, upload);
      const { table, packages } = fixtures.store;
      // As the deletion leaves it, before its message comes.
      await packages.remove((await packages.get(id, packageId))!, new Date());
      const left = async () =>
        (await table.query({ partition: packageFilesPartition(packageId), limit: 1 })).items.length;
      return job(fixtures, PACKAGE_FILES_JOB, { projectId: id, packageId }, async () =>
        (await left()) === 0 ? 'after' : 'before',
      );
    },
  },
  {
    name: 'job: files of a job are deleted when they expire',
    async prepare(fixtures) {
      const { job: made } = await taken(fixtures);
      await sendArtifact(fixtures.service, made, 'the archive');
      const { jobs } = fixtures.store;
      const record = (await jobs.get(made.id))!;
      const change = { status: 'failed', artifactsExpireAt: '2020-01-01T00:00:00.000Z' } as const;
      await jobs.change([{ job: record, change }]);
      const body = { pipelineId: record.pipelineId, jobId: made.id };
      return job(fixtures, EXPIRE_ARTIFACTS_JOB, body, async () =>
        flip(countOf((await jobs.get(made.id))!.artifacts)),
      );
    },
  },
  {
    name: 'job: files that their job does not list are deleted',
    async prepare(fixtures) {
      const { job } = await taken(fixtures);
      const { artifacts, blobs, jobs } = fixtures.store;
      const record = (await jobs.get(job.id))!;
      const { blob } = await artifacts.store(record, pieces('of nobody'), new Date());
      const body = { pipelineId: record.pipelineId, jobId: job.id, blobs: [blob] };
      return {
        run: () => runNow(fixtures, 'maintenance', SWEEP_ARTIFACTS_JOB, body),
        state: async () => ((await blobs.head(blob)) === undefined ? 'after' : 'before'),
      };
    },
  },
  {
    name: 'job: releases whose tags are gone are deleted',
    async prepare(fixtures) {
      const { id, owner } = await fixtures.ground();
      const tag_name = fixtures.fresh('gone');
      const { token } = owner;
      const path = `/projects/${id}/releases`;
      await fixtures.done('POST', path, { token, json: { tag_name, ref: 'main' } });
      const released = (await fixtures.store.releases.get(id, tag_name))!;
      await fixtures.done('DELETE', `/projects/${id}/repository/tags/${tag_name}`, { token });
      // As a push leaves it that deletes many tags.
      await fixtures.store.table.transact(fixtures.store.releases.creation(released));
      return job(fixtures, TAGS_DELETED_JOB, { projectId: id }, async () =>
        (await fixtures.store.releases.get(id, tag_name)) === undefined ? 'after' : 'before',
      );
    },
  },
  {
    name: 'job: a project that left its group keeps the labels of its issues',
    async prepare(fixtures) {
      const { token } = await fixtures.owner();
      const make = async (path: string, json: object) =>
        (await fixtures.done('POST', path, { token, json })).id;
      const group = async () => {
        const path = fixtures.fresh('group');
        return make('/groups', { name: path, path });
      };
      const [old, next] = [await group(), await group()];
      const labelId = await make(`/groups/${old}/labels`, { name: 'bug', color: '#ff0000' });
      const projectId = await make('/projects', { name: fixtures.fresh('moved'), namespace_id: old });
      const path = `/projects/${projectId}/issues`;
      const json = { title: 'labelled', labels: 'bug' };
      const { iid } = await fixtures.done('POST', path, { token, json });
      await fixtures.done('PUT', `/projects/${projectId}/transfer`, { token, json: { namespace: next } });
      return job(fixtures, 'issue.settle', { projectId }, async () => {
        const { labelIds } = (await fixtures.store.issues.get({ projectId, iid }))!;
        const own = await fixtures.done('GET', `/projects/${projectId}/labels`, { token });
        // A copy that no issue has yet is found by the next run.
        if (labelIds[0] === labelId) return 'before';
        return labelIds[0] === own[0]?.id ? 'after' : `${labelIds} of ${own.length}`;
      });
    },
  },
  {
    name: 'job: the epics of a group enter the lists of another top-level group',
    async prepare(fixtures) {
      const { token } = await fixtures.owner();
      const name = fixtures.fresh('moved');
      const group = await fixtures.done('POST', '/groups', { token, json: { name, path: name } });
      const epics = `/groups/${group.id}/epics`;
      await fixtures.done('POST', epics, { token, json: { title: 'moved' } });
      const [{ id }] = await fixtures.done('GET', epics, { token });
      // As the move leaves it.
      const epic = (await fixtures.store.epics.get(id))!;
      await fixtures.store.epics.change(epic, { rootId: 1 }, [], new Date());
      return job(fixtures, SETTLE_EPICS_JOB, { groupId: group.id }, async () => {
        const { length } = await fixtures.done('GET', epics, { token });
        return length === 0 ? 'before' : 'after';
      });
    },
  },
  {
    name: 'job: an epic takes its dates from the milestones of its issues',
    async prepare(fixtures) {
      const { projectId, iid, token } = await withLabelledIssue(fixtures);
      const name = fixtures.fresh('planned');
      const group = await fixtures.done('POST', '/groups', { token, json: { name, path: name } });
      const epics = `/groups/${group.id}/epics`;
      const epic = await fixtures.done('POST', epics, { token, json: { title: 'dated' } });
      const due_date = '2030-01-01';
      const milestone = await fixtures.done('POST', `/projects/${projectId}/milestones`, {
        token,
        json: { title: fixtures.fresh('m'), due_date },
      });
      // As a change of the issue leaves it.
      const issue = (await fixtures.store.issues.get({ projectId, iid }))!;
      const change = { epicId: epic.id as number, milestoneId: milestone.id as number };
      await fixtures.store.issues.update(issue, change, { rootId: 0, labelTitles: new Map() });
      return job(fixtures, EPIC_DATES_JOB, { epicId: epic.id, again: true }, async () => {
        const found = await fixtures.done('GET', `${epics}/${epic.iid}`, { token });
        return found.due_date === due_date ? 'after' : 'before';
      });
    },
  },
  {
    name: 'job: issues follow a label that was deleted',
    async prepare(fixtures) {
      const { projectId, iid, token } = await withLabelledIssue(fixtures);
      const { id } = await fixtures.done('GET', `/projects/${projectId}/labels/bug`, { token });
      const body = { facet: 'label', valueId: id, kind: 'project', id: projectId, successorId: null };
      return job(fixtures, 'issue.follow', body, async () => {
        const { labelIds } = (await fixtures.store.issues.get({ projectId, iid }))!;
        const { iids } = await fixtures.store.issueUses.page({ projectId, facet: 'label', valueId: id }, 10);
        if (labelIds.length !== iids.length) return `${labelIds.length} labels, ${iids.length} rows`;
        return flip(countOf(iids));
      });
    },
  },
  {
    name: 'job: who left a project is taken off its issues',
    async prepare(fixtures) {
      const { id, owner } = await fixtures.ground();
      const { token, id: userId } = owner;
      const json = { title: 'assigned', assignee_ids: [userId] };
      const { iid } = await fixtures.done('POST', `/projects/${id}/issues`, { token, json });
      return job(fixtures, UNASSIGN_ISSUES_JOB, { kind: 'project', id, userId }, async () => {
        const { assigneeIds } = (await fixtures.store.issues.get({ projectId: id, iid }))!;
        return flip(countOf(assigneeIds));
      });
    },
  },
  {
    name: 'job: the notes of a deleted issue are removed',
    async prepare(fixtures) {
      const { id: projectId, owner } = await fixtures.ground();
      const { token } = owner;
      const issues = `/projects/${projectId}/issues`;
      const { id, iid } = await fixtures.done('POST', issues, { token, json: { title: 'brief' } });
      for (const body of ['one', 'x'.repeat(40_000)])
        await fixtures.done('POST', `${issues}/${iid}/notes`, { token, json: { body } });
      await fixtures.done('DELETE', `${issues}/${iid}`, { token });
      const noteable = { kind: 'issue', id } as const;
      return job(fixtures, REMOVE_NOTES_JOB, { projectId, noteable }, async () => {
        const { notes, threads } = fixtures.store;
        const { items } = await notes.list(projectId, noteable, { page: 1, perPage: 10 });
        const { ids } = await threads.members({ projectId, noteable }, 0, 10);
        return items.length + ids.length === 0 ? 'after' : 'before';
      });
    },
  },
  {
    name: 'job: the repository of a deleted snippet is removed',
    async prepare(fixtures) {
      const { id, snippet, token } = await withSnippet(fixtures, 'user');
      await fixtures.done('DELETE', snippet, { token });
      return job(fixtures, REMOVE_SNIPPET_JOB, { snippetId: id }, async () => {
        const owner = { kind: 'snippet', id } as const;
        const guards = await fixtures.store.table.batchGet(
          Array.from({ length: GUARD_STRIPES }, (_, stripe) => guardKey(repositoryIdOf(owner), stripe)),
        );
        return guards.some((guard) => guard !== undefined) ? 'before' : 'after';
      });
    },
  },
  {
    name: 'job: a snippet is measured',
    async prepare(fixtures) {
      const { id, at } = await withSnippet(fixtures, 'project');
      const projectId = Number(at.split('/')[2]);
      return job(fixtures, MEASURE_SNIPPET_JOB, { snippetId: id }, async () => {
        const { snippets } = fixtures.store;
        const [snippet, total] = await Promise.all([snippets.get(id), snippets.total(projectId)]);
        if (snippet?.repositorySize === undefined) return total === 0 ? 'before' : 'half';
        return total === snippet.repositorySize && total > 0 ? 'after' : 'half';
      });
    },
  },
  {
    name: 'job: the relations of a deleted issue are removed',
    async prepare(fixtures) {
      const { id: projectId, owner } = await fixtures.ground();
      const { token } = owner;
      const issues = `/projects/${projectId}/issues`;
      const made = async () => fixtures.done('POST', issues, { token, json: { title: 'related' } });
      const [gone, left, further] = [await made(), await made(), await made()];
      for (const { iid } of [left, further])
        await fixtures.done('POST', `${issues}/${gone.iid}/links`, {
          token,
          json: { target_project_id: projectId, target_issue_iid: iid },
        });
      const { id, iid } = gone;
      return job(fixtures, 'issue.unlink', { projectId, iid, id }, async () => {
        const { issueLinks } = fixtures.store;
        const [own, other] = await Promise.all([
          issueLinks.of({ projectId, iid, id }),
          issueLinks.of({ projectId, iid: further.iid, id: further.id }),
        ]);
        if (own.length === 0 && other.length > 0) return 'half: one is left at the other issue';
        // What one run does not reach, the next one removes.
        return own.length === 0 ? 'after' : 'before';
      });
    },
  },
  {
    name: 'job: notes and files come to the copy of an issue',
    async prepare(fixtures) {
      const { id: projectId, owner } = await fixtures.ground();
      const { token } = owner;
      const issues = `/projects/${projectId}/issues`;
      const [source, target] = [
        await fixtures.done('POST', issues, { token, json: { title: 'original' } }),
        await fixtures.done('POST', issues, { token, json: { title: 'copy' } }),
      ];
      const texts = ['one', 'two', 'x'.repeat(40_000)];
      for (const body of texts)
        await fixtures.done('POST', `${issues}/${source.iid}/notes`, { token, json: { body } });
      const { table, issueCopies, notes } = fixtures.store;
      const upTo = await notes.nextId();
      const [from, to] = [source, target].map(({ id, iid }) => ({ id, projectId, iid }));
      const { write } = issueCopies.begin({
        ...{
          source: from!,
          target: to!,
          actorId: owner.id,
          withNotes: true,
          upTo,
          ids: { next: 1, last: 0 },
        },
        ...{ step: 'files', after: 0, part: null, version: 1 },
      });
      await table.put(write);
      return job(fixtures, 'issue.copy', { projectId, iid: target.iid }, async () => {
        const found = await fixtures.done('GET', `${issues}/${target.iid}/notes`, { token });
        const left = await issueCopies.get(to!);
        // While its row is there, the next run goes on where this one was.
        if (left !== undefined) return 'before';
        return found.length === texts.length ? 'after' : `${found.length} notes of ${texts.length}`;
      });
    },
  },
  {
    name: 'job: the users whom an issue mentions and is assigned to get to-dos',
    async prepare(fixtures) {
      const { id: projectId, owner } = await fixtures.ownGround();
      const { iid } = await fixtures.done('POST', `/projects/${projectId}/issues`, {
        token: owner.token,
        json: { title: 'for me', assignee_ids: [owner.id] },
      });
      await fixtures.settle();
      await fixtures.done('POST', '/todos/mark_as_done', { token: owner.token });
      // Of many to-dos that other operations made a worker marks the rest.
      await fixtures.settle();
      const cause = { authorId: owner.id, assignedIds: [owner.id], described: true, finished: false };
      return job(fixtures, 'todos.add', { projectId, iid, ...cause }, () =>
        counted(fixtures, '/todos', owner.token),
      );
    },
  },
  {
    name: 'job: an issue is told that a text names it',
    async prepare(fixtures) {
      const { id: projectId, owner } = await fixtures.ownGround();
      const path = `/projects/${projectId}/issues`;
      const make = (title: string) => fixtures.done('POST', path, { token: owner.token, json: { title } });
      const [named, naming] = [await make('named'), await make('naming')];
      const { issues } = fixtures.store;
      const before = (await issues.get({ projectId, iid: naming.iid }))!;
      const around = { rootId: 1, labelTitles: new Map<number, string>() };
      await issues.update(before, { title: `as #${named.iid}` }, around);
      const text = { kind: 'issue', projectId, iid: naming.iid };
      const writer = { actorId: owner.id, baseUrl: fixtures.service.url };
      return job(fixtures, MENTIONS_JOB, { text, ...writer }, () =>
        counted(fixtures, `${path}/${named.iid}/notes`, owner.token),
      );
    },
  },
  {
    name: 'job: a commit is told that an issue names it, and is kept',
    async prepare(fixtures) {
      const { id: projectId, owner, main } = await fixtures.ownGround();
      const { token } = owner;
      const json = { title: 'naming' };
      const { iid } = await fixtures.done('POST', `/projects/${projectId}/issues`, { token, json });
      const { issues } = fixtures.store;
      const before = (await issues.get({ projectId, iid }))!;
      const around = { rootId: 1, labelTitles: new Map<number, string>() };
      await issues.update(before, { title: `as ${main[0]}` }, around);
      const text = { kind: 'issue', projectId, iid };
      const writer = { actorId: owner.id, baseUrl: fixtures.service.url };
      return job(fixtures, MENTIONS_JOB, { text, ...writer }, () =>
        counted(fixtures, `/projects/${projectId}/repository/commits/${main[0]}/comments`, token),
      );
    },
  },
  {
    name: 'job: a pushed commit closes an issue',
    costly: true,
    async prepare(fixtures) {
      const ground = await fixtures.ownGround();
      const { id: projectId, owner } = ground;
      const { token } = owner;
      const iid = 9;
      // The job of the push itself comes before the issue.
      const actions = [{ action: 'create', file_path: 'closes.txt', content: 'x' }];
      const json = { branch: 'main', commit_message: `Closes #${iid}`, actions };
      const path = `/projects/${projectId}`;
      const { id: to } = await fixtures.done('POST', `${path}/repository/commits`, { token, json });
      await fixtures.settle();
      await fixtures.done('POST', `${path}/issues`, { token, json: { title: 'to be closed', iid } });
      const branches = [{ name: 'refs/heads/main', from: ground.main[0], to }];
      const writer = { actorId: owner.id, baseUrl: fixtures.service.url };
      return job(fixtures, PUSHED_JOB, { projectId, branches, ...writer }, async () => {
        const { state } = (await fixtures.store.issues.get({ projectId, iid }))!;
        return state === 'closed' ? 'after' : 'before';
      });
    },
  },
  {
    name: 'job: a merge request closes an issue',
    async prepare(fixtures) {
      const { id: projectId, owner } = await fixtures.ownGround();
      const { token } = owner;
      const path = `/projects/${projectId}`;
      const { iid } = await fixtures.done('POST', `${path}/issues`, {
        token,
        json: { title: 'closed then' },
      });
      const actions = [{ action: 'create', file_path: 'merged.txt', content: 'x' }];
      const commit = { branch: 'merged', start_branch: 'main', commit_message: 'x', actions };
      await fixtures.done('POST', `${path}/repository/commits`, { token, json: commit });
      const json = { title: `Closes #${iid}`, source_branch: 'merged', target_branch: 'main' };
      const proposed = await fixtures.done('POST', `${path}/merge_requests`, { token, json });
      await fixtures.done('PUT', `${path}/merge_requests/${proposed.iid}/merge`, { token });
      const { issues } = fixtures.store;
      const writer = { actorId: owner.id, baseUrl: fixtures.service.url };
      return job(fixtures, MERGED_JOB, { projectId, iid: proposed.iid, ...writer }, async () => {
        const { state } = (await issues.get({ projectId, iid }))!;
        return state === 'closed' ? 'after' : 'before';
      });
    },
  },
  {
    name: 'job: a merge request that is deleted closes no issue',
    async prepare(fixtures) {
      const { id: projectId, owner } = await fixtures.ownGround();
      const { token } = owner;
      const path = `/projects/${projectId}`;
      const { iid } = await fixtures.done('POST', `${path}/issues`, { token, json: { title: 'not closed' } });
      const actions = [{ action: 'create', file_path: 'dropped.txt', content: 'x' }];
      const commit = { branch: 'dropped', start_branch: 'main', commit_message: 'x', actions };
      await fixtures.done('POST', `${path}/repository/commits`, { token, json: commit });
      const json = { title: `Closes #${iid}`, source_branch: 'dropped', target_branch: 'main' };
      const proposed = await fixtures.done('POST', `${path}/merge_requests`, { token, json });
      await fixtures.settle();
      await fixtures.done('DELETE', `${path}/merge_requests/${proposed.iid}`, { token });
      const body = { projectId, iid: proposed.iid, closes: [{ projectId, iid }] };
      return job(fixtures, CLOSES_NOTHING_JOB, body, async () => {
        const { closers } = (await fixtures.store.issues.get({ projectId, iid }))!;
        return closers === undefined ? 'after' : 'before';
      });
    },
  },
  {
    name: 'job: more to-dos than a request marks are done',
    async prepare(fixtures) {
      const { id: projectId, owner } = await fixtures.ownGround();
      const { token } = owner;
      const path = `/projects/${projectId}/issues`;
      // Those that other operations promised are there first.
      await fixtures.settle();
      await fixtures.done('POST', '/todos/mark_as_done', { token });
      // Of many a worker marks the rest.
      await fixtures.settle();
      const { iid } = await fixtures.done('POST', path, { token, json: { title: 'much' } });
      const { id: upTo } = await fixtures.done('POST', `${path}/${iid}/todo`, { token });
      return job(fixtures, 'todos.finish', { userId: owner.id, upTo }, async () =>
        flip(await counted(fixtures, '/todos', token)),
      );
    },
  },
  {
    name: 'job: an issue enters the lists that its change left to the worker',
    async prepare(fixtures) {
      const { id: projectId, owner } = await fixtures.ground();
      const path = `/projects/${projectId}/issues`;
      const { iid } = await fixtures.done('POST', path, { token: owner.token, json: { title: 'much' } });
      const { issues, table } = fixtures.store;
      const before = (await issues.get({ projectId, iid }))!;
      const labelIds = Array.from({ length: 120 }, (_, i) => 1_000_000 + i);
      const around = { rootId: 1, labelTitles: new Map<number, string>() };
      await issues.update(before, { labelIds }, around);
      return job(fixtures, 'issue.index', { projectId, iid }, async () => {
        const rows = await table.batchGet(
          labelIds.map((label) =>
            issueKeys.by(projectId, 'label', label, 'opened', trackedPlace(before.createdAt, iid, before.id)),
          ),
        );
        const count = rows.filter((row) => row !== undefined).length;
        const done = !Object.hasOwn((await issues.get({ projectId, iid }))!, 'obsolete');
        return count === 120 && done ? 'after' : done ? `half: ${count} of 120` : 'before';
      });
    },
  },
  {
    name: 'job: a replaced text is deleted',
    async prepare(fixtures) {
      const { id } = await fixtures.ground();
      const { texts } = fixtures.store;
      const text = (await texts.keep(id, 'x'.repeat(MAX_ROW_TEXT + 1))) as LongText;
      return job(fixtures, 'texts.drop', { texts: [text] }, () =>
        texts.read(text).then(
          () => 'before',
          () => 'after',
        ),
      );
    },
  },
  {
    name: 'job: a project is measured',
    async prepare(fixtures) {
      const { token } = await fixtures.owner();
      const path = fixtures.fresh('sized');
      const group = await fixtures.done('POST', '/groups', { token, json: { name: path, path } });
      const json = { name: path, namespace_id: group.id, initialize_with_readme: true };
      const { id } = await fixtures.done('POST', '/projects', { token, json });
      const { statistics } = fixtures.store;
      return job(fixtures, 'project.measure', { projectId: id }, async () => {
        const [measured, [sum]] = await Promise.all([
          statistics.ofProject(id),
          statistics.ofGroups([group.id]),
        ]);
        const bytes = sum!.repositorySize;
        if (measured === undefined) return bytes === 0 ? 'before' : `a sum of ${bytes} without statistics`;
        return measured.commitCount === 1 && measured.repositorySize === bytes ? 'after' : 'half';
      });
    },
  },
  {
    name: 'job: a project whose day has come is deleted',
    async prepare(fixtures) {
      const { id, owner } = await fixtures.ownGround();
      const { projects } = fixtures.store;
      const dueOn = '2021-01-01';
      const deletion = { askedAt: '2020-12-25T00:00:00.000Z', dueOn };
      await projects.update((await projects.get(id))!, { archived: true, deletion });
      return job(fixtures, 'deletion.due', { kind: 'project', id, dueOn }, async () =>
        flip(await found(fixtures, `/projects/${id}`, owner.token)),
      );
    },
  },
  {
    name: 'job: a membership whose day has come ends, and is told once',
    async prepare(fixtures) {
      const { id, owner } = await fixtures.ground();
      const member = await fixtures.service.user(fixtures.fresh('ending'));
      const source = { kind: 'project', id } as const;
      const { members } = fixtures.store;
      const expiresAt = '2021-01-01';
      const created = { createdAt: '2020-01-01T00:00:00.000Z', createdById: owner.id };
      await members.add({ source, userId: member.id, accessLevel: 30, expiresAt, ...created });
      return job(fixtures, 'member.expires', { ...source, userId: member.id, expiresAt }, async () => {
        const row = await members.getEvenExpired(source, member.id);
        const path = `/projects/${id}/events?action=expired`;
        const all: { author_id: number }[] = await fixtures.done('GET', path, { token: owner.token });
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
    name: 'job: a participant of an issue that is due is told once',
    costly: true,
    async prepare(fixtures) {
      const { id: projectId, owner } = await fixtures.ownGround();
      // A day of its own: the job tells of all issues of the day.
      const day = new Date(Date.UTC(2100, 0, 1 + projectId)).toISOString().slice(0, 10);
      const path = `/projects/${projectId}/issues`;
      const { id } = await fixtures.done('POST', path, {
        token: owner.token,
        json: { title: 'Due', due_date: day },
      });
      return job(fixtures, 'issues.due', { day, baseUrl: 'http://x' }, async () => {
        // The job promises a notification, which another job sends.
        await fixtures.settle();
        const marks = [`due.${id}.${day}.due#${owner.id}`];
        const { size } = await fixtures.store.processed.filterHandled('notification', marks);
        return size === 1 ? 'after' : 'before';
      });
    },
  },
  {
    name: 'job: a dormant user is deactivated, and recorded once',
    async prepare(fixtures) {
      await changeSettings(fixtures.service, { deactivate_dormant_users: true });
      const { id } = await fixtures.service.user(fixtures.fresh('dormant'));
      const { users } = fixtures.store;
      await users.update((await users.get(id))!, { createdAt: '2020-01-01T00:00:00.000Z' } as UserChange);
      return job(fixtures, 'users.dormant', { after: id - 1 }, async () => {
        const { state } = (await users.get(id))!;
        const path = `/audit_events?entity_type=User&entity_id=${id}`;
        const all = await fixtures.done('GET', path, { token: fixtures.service.rootToken });
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
    name: 'job: a project is counted with its topics',
    async prepare(fixtures) {
      const { id } = await fixtures.ownGround();
      const { projects, topicRecords: topics } = fixtures.store;
      const name = fixtures.fresh('topic');
      // Without the request's own count.
      await projects.update((await projects.get(id))!, { topics: [name] });
      return job(fixtures, 'topics.assign', { projectId: id }, async () =>
        (await topics.byNames([name]))[0]?.projectsCount === 1 ? 'after' : 'before',
      );
    },
  },
  {
    name: 'job: a project follows its topic',
    async prepare(fixtures) {
      const { id } = await fixtures.ownGround();
      const { projects, topicRecords: topics, topicAssignments } = fixtures.store;
      const [name, to] = [fixtures.fresh('topic'), fixtures.fresh('renamed')];
      await projects.update((await projects.get(id))!, { topics: [name] });
      await topicAssignments.assign(id, new Date());
      const [topic] = await topics.byNames([name]);
      await topics.update(topic!, { name: to }, new Date(), []);
      return job(fixtures, 'topic.follow', { topicId: topic!.id }, async () => {
        const [now] = (await projects.get(id))!.topics;
        return now === to ? 'after' : now === name ? 'before' : String(now);
      });
    },
  },
  {
    name: 'job: the bot of a revoked token is removed',
    async prepare(fixtures) {
      const { id, owner } = await fixtures.ground();
      const json = { name: fixtures.fresh('bot'), scopes: ['api'] };
      const path = `/projects/${id}/access_tokens`;
      const made = await fixtures.done('POST', path, { token: owner.token, json });
      await fixtures.done('DELETE', `${path}/${made.id}`, { token: owner.token });
      return job(fixtures, 'bot.remove', { userId: made.user_id }, async () =>
        (await fixtures.store.users.get(made.user_id)) === undefined ? 'after' : 'before',
      );
    },
  },
  {
    name: 'job: what waits for an address becomes a membership',
    async prepare(fixtures) {
      const { token } = await fixtures.service.user(fixtures.fresh('host'));
      const path = fixtures.fresh('inviting');
      const { id } = await fixtures.done('POST', '/groups', { token, json: { name: path, path } });
      const someone = await fixtures.service.user(fixtures.fresh('invited'));
      const email = `${fixtures.fresh('waiting')}@example.com`;
      const json = { email, access_level: 20 };
      await fixtures.done('POST', `/groups/${id}/invitations`, { token, json });
      // The fork is theirs, and the message that continues it is lost.
      const theirs = { email, skip_confirmation: true };
      await fixtures.done('POST', `/users/${someone.id}/emails`, {
        token: fixtures.service.rootToken,
        json: theirs,
      });
      return job(fixtures, 'email.confirmed', { email }, async () => {
        const waits = countOf(await fixtures.done('GET', `/groups/${id}/invitations`, { token }));
        const is = await found(fixtures, `/groups/${id}/members/${someone.id}`, token);
        return waits === is ? `${is}, and it ${waits === 'after' ? 'waits' : 'is gone'}` : is;
      });
    },
  },
  {
    name: 'job: a list of billable members is made',
    async prepare(fixtures) {
      const { token } = await fixtures.owner();
      const path = fixtures.fresh('billed');
      const { id } = await fixtures.done('POST', '/groups', { token, json: { name: path, path } });
      // As the first request for it does.
      await fixtures.store.billableLists.getAndExtend(id, new Date());
      return job(fixtures, 'billable.refresh', { groupId: id }, async () =>
        (await fixtures.store.billableLists.get(id, new Date())) === undefined ? 'before' : 'after',
      );
    },
  },
  {
    name: 'job: a person’s projects follow another username',
    costly: true,
    async prepare(fixtures) {
      const { id: userId, token } = await fixtures.service.user(fixtures.fresh('mover'));
      const name = fixtures.fresh('moved');
      const { id } = await fixtures.done('POST', '/projects', { token, json: { name } });
      const { users, projects } = fixtures.store;
      const user = (await users.get(userId))!;
      const username = fixtures.fresh('arrived');
      await users.update(user, { username, movedFrom: user.username });
      return job(fixtures, 'namespace.move', { userId, last: true }, async () => {
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
    async prepare(fixtures) {
      const { token } = await fixtures.owner();
      const [path, to, name] = [fixtures.fresh('before'), fixtures.fresh('behind'), fixtures.fresh('along')];
      const { id: groupId } = await fixtures.done('POST', '/groups', { token, json: { name: path, path } });
      const { id } = await fixtures.done('POST', '/projects', {
        token,
        json: { name, namespace_id: groupId },
      });
      const { groups, projects } = fixtures.store;
      const mover = { actorId: null, baseUrl: fixtures.service.url };
      await groups.update((await groups.get(groupId))!, { path: to }, { parents: [], mover });
      return job(fixtures, 'group.move', { groupId, mover }, async () => {
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
    async prepare(fixtures) {
      const { id, owner } = await fixtures.ownGround();
      const { token } = owner;
      const { id: fork } = await fixtures.done('POST', '/projects', {
        token,
        json: { name: fixtures.fresh('fork') },
      });
      await fixtures.done('POST', `/projects/${fork}/fork/${id}`, { token });
      const before = new Date().toISOString();
      return job(fixtures, 'project.unlink-forks', { projectId: id, before }, async () => {
        const [source, one] = await Promise.all([id, fork].map((each) => fixtures.store.projects.get(each)));
        const related = one!.forkedFromId === id;
        if (related !== (source!.forksCount === 1)) return 'half';
        return related ? 'before' : 'after';
      });
    },
  },
  {
    name: 'job: a project can be found',
    costly: true,
    async prepare(fixtures) {
      const { id, owner, fullPath } = await fixtures.ownGround();
      const kind = 'project';
      await fixtures.store.search.index(kind, id, async () => undefined);
      // A run that fails is followed by another, at the latest when everything is checked.
      await fixtures.store.table.put(outboxWrite(message(MAINTENANCE, 'search.index', { kind, id })));
      const search = fullPath.split('/')[1]!;
      return job(fixtures, 'search.index', { kind, id }, async () => {
        const found = await fixtures.done('GET', `/projects?search=${search}&per_page=100`, {
          token: owner.token,
        });
        return found.some((project: { id: number }) => project.id === id) ? 'after' : 'before';
      });
    },
  },
  {
    name: 'job: merged branches are deleted',
    costly: true,
    async prepare(fixtures) {
      const ground = await fixtures.ownGround();
      const { token } = ground.owner;
      const json = { branch: 'merged', ref: 'main' };
      await fixtures.done('POST', `/projects/${ground.id}/repository/branches`, { token, json });
      return job(fixtures, 'branches.delete-merged', { projectId: ground.id }, async () => {
        const merged = await refOf(fixtures, ground, 'refs/heads/merged');
        const side = await refOf(fixtures, ground, 'refs/heads/side');
        return side === ground.side ? (merged === undefined ? 'after' : 'before') : `side at ${side}`;
      });
    },
  },
  {
    name: 'job: what a late writer left of a deleted project is removed',
    costly: true,
    async prepare(fixtures) {
      const { id, repositoryId } = await fixtures.ownGround();
      await removeWhole(deps(), (await fixtures.store.projects.get(id))!);
      await runNow(fixtures, 'maintenance', 'project.delete', { projectId: id, repositoryId });
      const folder = `networks/${repositoryId}/packs/${repositoryId}/`;
      await fixtures.store.blobs.put(`${folder}${ulid()}.pack`, Buffer.from('late'));
      return job(fixtures, 'repository.sweep', { repositoryId }, async () => {
        const { keys } = await fixtures.store.blobs.list(folder);
        return keys.length === 0 ? 'after' : 'before';
      });
    },
  },
  {
    name: 'the sweep of promises',
    reads: true,
    async prepare(fixtures) {
      const { id, owner, fullPath } = await fixtures.ownGround();
      const kind = 'project';
      await fixtures.settle();
      await fixtures.store.search.index(kind, id, async () => undefined);
      const promise = outboxWrite(message(MAINTENANCE, 'search.index', { kind, id }));
      await fixtures.store.table.put(promise);
      return {
        run: () => told(fixtures.service.host.invoke('outbox-sweep', { olderThan: 0 })),
        async state() {
          const { pk, sk } = promise.put as Record<string, string>;
          if ((await fixtures.store.table.get({ pk: pk!, sk: sk! })) !== undefined) return 'before';
          await fixtures.settle();
          const search = fullPath.split('/')[1]!;
          const found = await fixtures.done('GET', `/projects?search=${search}`, { token: owner.token });
          return found.some((one: { id: number }) => one.id === id) ? 'after' : 'the promise is lost';
        },
      };
    },
  },
];

/** A message of the maintenance queue. */
async function withLabelledIssue(
  fixtures: Fixtures,
): Promise<{ readonly projectId: number; readonly iid: number; readonly token: string }> {
  const { token } = await fixtures.owner();
  const json = { name: fixtures.fresh('labelled') };
  const { id } = await fixtures.done('POST', '/projects', { token, json });
  const issue = { title: 'labelled', labels: 'bug' };
  const { iid } = await fixtures.done('POST', `/projects/${id}/issues`, { token, json: issue });
  return { projectId: id, iid, token };
}

const job = (
  fixtures: Fixtures,
  type: string,
  body: Readonly<Record<string, unknown>>,
  state: () => Promise<string>,
): Work => ({ run: () => runNow(fixtures, 'maintenance', type, body), state });

/** Has a worker do a job, as if its message had come. */
export const runNow = (
  fixtures: Fixtures,
  worker: string,
  type: string,
  body: Readonly<Record<string, unknown>>,
): Promise<Told> => {
  const id = fixtures.fresh('message');
  return fixtures.attempt(worker, { MessageId: id, Body: JSON.stringify({ id, type, body }) });
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

const packsOf = ({ store }: Fixtures, { repositoryId }: Ground) =>
  store.repositories.open(repositoryId).listPacks();

async function addFile(fixtures: Fixtures, ground: Ground, file_path: string): Promise<void> {
  const json = {
    branch: 'main',
    commit_message: file_path,
    actions: [{ action: 'create', file_path, content: file_path }],
  };
  await fixtures.done('POST', `/projects/${ground.id}/repository/commits`, {
    token: ground.owner.token,
    json,
  });
}

async function* pieces(text: string) {
  yield Buffer.from(text);
}
