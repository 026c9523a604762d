/** Issues that merge requests name and close: whom they are told to, when, and once. */
import { describe, expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { projectAccesses } from '../../../lib/domain/access/project-accesses.ts';
import { actingFor } from '../../../lib/domain/actor.ts';
import { mergeMergeRequest } from '../../../lib/domain/merge-requests/merge.ts';
import { mergedMessage } from '../../../lib/store/notes/mentions.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { settled } from '../../harness/settled.ts';

const { service, someone } = ownWorld();

interface Person {
  readonly id: number;
  readonly token: string;
}

const call = async (who: Person, method: string, path: string, json?: unknown, status?: number) => {
  const options = { token: who.token, ...(json === undefined ? {} : { json }) };
  const answer = await service.call(method, path, options);
  expect(answer.status, JSON.stringify(answer.body)).toBe(status ?? (method === 'POST' ? 201 : 200));
  return answer.body;
};

let branches = 0;

/** A public project with three open issues, and what is proposed there. */
async function projectOf(owner: Person, name: string, more: object = {}) {
  const made = { name, visibility: 'public', initialize_with_readme: true, ...more };
  const { id, path_with_namespace: path } = await call(owner, 'POST', '/projects', made);
  const at = `/projects/${id}`;
  for (const title of ['one', 'two', 'three']) await call(owner, 'POST', `${at}/issues`, { title });
  return {
    id: id as number,
    at,
    path: path as string,
    async propose(json: object): Promise<number> {
      const branch = `b${++branches}`;
      const actions = [{ action: 'create', file_path: branch, content: 'x' }];
      const commit = { branch, start_branch: 'main', commit_message: 'x', actions };
      await call(owner, 'POST', `${at}/repository/commits`, commit);
      const given = { title: 'x', source_branch: branch, target_branch: 'main', ...json };
      return (await call(owner, 'POST', `${at}/merge_requests`, given)).iid;
    },
    async merge(iid: number, mergeMessage: string | null = 'Merge'): Promise<void> {
      const actor = actingFor((await deps().store.users.get(owner.id))!, service.url);
      const [access] = await projectAccesses(deps(), actor, [id]);
      const choices = { mergeMessage, squashMessage: null, squash: null, removeSource: null };
      const input = { ...choices, whenPipelineSucceeds: false };
      const { mergeRequest } = await mergeMergeRequest(deps(), actor, access!, iid, input);
      expect(mergeRequest.state).toBe('merged');
    },
    /** What is noted of the states of an issue, which answers tell as events. */
    async states(iid: number) {
      const issue = await deps().store.issues.get({ projectId: id, iid });
      const on = { kind: 'issue', id: issue!.id } as const;
      const { items } = await deps().store.notes.list(id, on, { page: 1, perPage: 100 });
      return items.filter(({ change }) => change?.kind === 'state').map(({ body }) => body);
    },
    /** Number, state and system notes of its issues, as somebody reads them; commits without their ids. */
    async issues(who = owner) {
      await settled();
      const issues = await call(who, 'GET', `${at}/issues?sort=asc`);
      return Promise.all(
        issues.map(async ({ iid, state }: { iid: number; state: string }) => {
          const notes = await call(who, 'GET', `${at}/issues/${iid}/notes?sort=asc`);
          return [
            ...[iid, state],
            ...notes.map(({ body }: { body: string }) => body.replace(/[0-9a-f]{40}/, '<id>')),
          ];
        }),
      );
    },
  };
}

describe('a merge request', () => {
  test('is told once to the issues that its texts and notes name, for those who may read it', async () => {
    const [owner, stranger]: Person[] = [await someone(), await someone()];
    const { at, ...project } = await projectOf(owner!, 'Naming', { merge_requests_access_level: 'private' });
    const iid = await project.propose({ title: 'As #1', description: '#1, `#2`' });
    await call(owner!, 'PUT', `${at}/merge_requests/${iid}`, { description: '#1 and #3' });
    await call(owner!, 'POST', `${at}/merge_requests/${iid}/notes`, { body: '#1 and #2' });
    expect(await project.issues()).toEqual([
      [1, 'opened', 'mentioned in merge request !1'],
      [2, 'opened', 'mentioned in merge request !1'],
      [3, 'opened', 'mentioned in merge request !1'],
    ]);
    expect(await project.issues(stranger)).toEqual([
      [1, 'opened'],
      [2, 'opened'],
      [3, 'opened'],
    ]);
  });

  test('closes issues when it is merged, as the merger and before its commits', async () => {
    const owner: Person = await someone();
    const { at, ...project } = await projectOf(owner, 'Merging');
    const iid = await project.propose({ title: 'Mend, closes #1', description: 'Fixes #2. See #3.' });
    const named = ['mentioned in merge request !1'];
    expect(await project.issues()).toEqual([1, 2, 3].map((issue) => [issue, 'opened', ...named]));
    await project.merge(iid, null);
    const [first, second, third] = (await project.issues()) as [string[], string[], string[]];
    for (const [iid, closed] of [first, second].entries()) {
      expect(closed[1]).toBe('closed');
      expect(await project.states(iid + 1)).toEqual(['closed via merge request !1']);
    }
    expect(third.slice(0, 3)).toEqual([3, 'opened', ...named]);
    expect(await call(owner, 'GET', `${at}/issues/1`)).toMatchObject({ closed_by: { id: owner.id } });
  });

  test('is listed with the issues that it names and closes, for those who may read it', async () => {
    const [owner, stranger]: Person[] = [await someone(), await someone()];
    const { at, ...project } = await projectOf(owner!, 'Listed', { merge_requests_access_level: 'private' });
    await project.propose({ title: 'Closes #1', description: 'As #2' });
    await project.propose({ description: 'Closes listed#1 and #2' });
    await project.propose({ description: 'Closes elsewhere#1, says #1' });
    await settled();
    const listed = async (who: Person, issue: number, list: string) =>
      (await call(who, 'GET', `${at}/issues/${issue}/${list}`)).map(({ iid }: { iid: number }) => iid);
    expect(await listed(owner!, 1, 'related_merge_requests')).toEqual([3, 2, 1]);
    expect(await listed(owner!, 1, 'closed_by')).toEqual([2, 1]);
    expect(await listed(owner!, 2, 'closed_by')).toEqual([2]);
    expect(await listed(owner!, 3, 'related_merge_requests')).toEqual([]);
    expect(await listed(owner!, 1, 'closed_by?per_page=1&page=2')).toEqual([1]);
    for (const list of ['related_merge_requests', 'closed_by'])
      expect(await listed(stranger!, 1, list)).toEqual([]);
  });

  test('is counted with the issues that it says it closes, for those who may read it', async () => {
    const [owner, other, stranger]: Person[] = [await someone(), await someone(), await someone()];
    const near = await projectOf(owner!, 'Near', { merge_requests_access_level: 'private' });
    const far = await projectOf(other!, 'Farther');
    const counts = async (who: Person) => {
      await settled();
      const issues = await call(who, 'GET', `${near.at}/issues?sort=asc`);
      const each = issues.map((issue: { merge_requests_count: number }) => issue.merge_requests_count);
      const closers = [1, 2, 3].map((issue) => call(who, 'GET', `${near.at}/issues/${issue}/closed_by`));
      expect((await Promise.all(closers)).map(({ length }) => length)).toEqual(each);
      const first = await call(who, 'GET', `${near.at}/issues/1`);
      expect(first.merge_requests_count).toBe(each[0]);
      return each;
    };
    const iid = await near.propose({ title: 'Closes #1', description: 'Fixes #2, as #3.' });
    const elsewhere = await far.propose({ description: `Closes ${near.path}#1` });
    expect(await counts(owner!)).toEqual([2, 1, 0]);
    expect(await counts(stranger!)).toEqual([1, 0, 0]);
    await call(other!, 'PUT', far.at, { visibility: 'private' });
    expect(await counts(owner!)).toEqual([1, 1, 0]);
    await call(other!, 'PUT', far.at, { visibility: 'public' });

    await call(owner!, 'PUT', `${near.at}/merge_requests/${iid}`, { title: 'x', description: 'Fixes #3' });
    expect(await counts(owner!)).toEqual([1, 0, 1]);
    await call(other!, 'PUT', `${far.at}/merge_requests/${elsewhere}`, { description: '' });
    expect(await counts(owner!)).toEqual([0, 0, 1]);

    await call(owner!, 'POST', `${near.at}/repository/branches`, { branch: 'stable', ref: 'main' });
    await call(owner!, 'PUT', `${near.at}/merge_requests/${iid}`, { target_branch: 'stable' });
    expect(await counts(owner!)).toEqual([0, 0, 0]);
    await call(owner!, 'PUT', `${near.at}/merge_requests/${iid}`, { target_branch: 'main' });
    expect(await counts(owner!)).toEqual([0, 0, 1]);

    await call(owner!, 'PUT', near.at, { autoclose_referenced_issues: false });
    expect(await counts(owner!)).toEqual([0, 0, 0]);
    await call(owner!, 'PUT', near.at, { autoclose_referenced_issues: true });
    await near.merge(iid);
    expect(await counts(owner!)).toEqual([0, 0, 1]);
    await call(owner!, 'DELETE', `${near.at}/merge_requests/${iid}`, undefined, 204);
    expect(await counts(owner!)).toEqual([0, 0, 0]);
  });

  test('stays with the issue that it names, when that moves to another project', async () => {
    const owner: Person = await someone();
    const { at, ...project } = await projectOf(owner, 'Moving');
    const target = await projectOf(owner, 'Moved');
    await project.propose({ description: 'Closes #1' });
    await settled();
    const moved = await call(owner, 'POST', `${at}/issues/1/move`, { to_project_id: target.id });
    expect(moved.merge_requests_count).toBe(0);
    expect(await call(owner, 'GET', `${at}/issues/1`)).toMatchObject({ merge_requests_count: 1 });
  });

  test('closes an issue once: when that is opened again it stays so', async () => {
    const owner: Person = await someone();
    const { at, id, ...project } = await projectOf(owner, 'Once');
    const iid = await project.propose({ description: 'Closes #1' });
    await project.merge(iid);
    await settled();
    await call(owner, 'PUT', `${at}/issues/1`, { state_event: 'reopen' });
    const again = () => mergedMessage({ projectId: id, iid }, { actorId: owner.id, baseUrl: service.url });
    await deps().store.outbox.commit([], [again(), again()]);
    expect((await project.issues())[0]).toEqual([1, 'opened', 'mentioned in merge request !1']);
    expect(await project.states(1)).toEqual(['closed via merge request !1', 'reopened']);
  });

  test.each([
    ['as they are', false],
    ['squashed', true],
  ])(
    'is listed with the issues that its commits close, and closes them when these are merged %s',
    async (_, squash) => {
      const owner: Person = await someone();
      const { at, ...project } = await projectOf(owner, `Commits ${squash}`);
      const iid = await project.propose({});
      const closed = async (list: string) =>
        (await call(owner, 'GET', `${at}/${list}`)).map((each: { iid: number }) => each.iid);
      const counts = async () => {
        await settled();
        const issues = await call(owner, 'GET', `${at}/issues?sort=asc`);
        return issues.map((each: { merge_requests_count: number }) => each.merge_requests_count);
      };
      expect(await counts()).toEqual([0, 0, 0]);
      const branch = (await call(owner, 'GET', `${at}/merge_requests/${iid}`)).source_branch;
      const actions = [{ action: 'create', file_path: 'mended', content: 'x' }];
      const commit = { branch, commit_message: 'Mend\n\nFixes #2', actions };
      await call(owner, 'POST', `${at}/repository/commits`, commit);
      expect(await counts()).toEqual([0, 1, 0]);
      expect(await closed(`issues/2/closed_by`)).toEqual([iid]);
      expect(await closed(`merge_requests/${iid}/closes_issues`)).toEqual([2]);
      await call(owner, 'PUT', `${at}/merge_requests/${iid}/merge`, { squash });
      const [first, second] = (await project.issues()) as [string[], string[]];
      expect(first[1]).toBe('opened');
      expect(second[1]).toBe('closed');
      expect(await project.states(2)).toEqual(['closed via merge request !1']);
    },
  );

  test('closes nothing that is merged elsewhere than into the default branch', async () => {
    const owner: Person = await someone();
    const { at, ...project } = await projectOf(owner, 'Aside');
    await call(owner, 'POST', `${at}/repository/branches`, { branch: 'stable', ref: 'main' });
    const iid = await project.propose({ description: 'Closes #1', target_branch: 'stable' });
    await project.merge(iid);
    expect((await project.issues())[0]).toEqual([1, 'opened', 'mentioned in merge request !1']);
  });

  test('closes no issue where the project has that off, or the merger may not', async () => {
    const [owner, other]: Person[] = [await someone(), await someone()];
    const own = await projectOf(owner!, 'Own', { autoclose_referenced_issues: false });
    const far = await projectOf(other!, 'Far');
    const iid = await own.propose({ description: `Closes #1 and ${far.path}#1` });
    await own.merge(iid);
    expect((await own.issues())[0]).toEqual([1, 'opened', 'mentioned in merge request !1']);
    expect((await far.issues(other))[0]).toEqual([1, 'opened', `mentioned in merge request ${own.path}!1`]);
  });
});
