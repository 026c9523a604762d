import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { doneAs } from '../../harness/done.ts';
import { propose } from '../../harness/proposals.ts';
import { type Answer, type Service, startService } from '../../harness/service.ts';

type User = Awaited<ReturnType<Service['user']>>;
let service: Service;
let owner: User;
let author: User;
let dev: User;
let writer: User;
let keeper: User;
let stranger: User;
/** A group with the project in it, and another. */
let top: number;
let guests: number;
let project: number;
/** Of a merge request. */
let mr: string;
let iid: number;

const call = (user: User, method: string, url: string, json?: unknown): Promise<Answer> =>
  service.call(method, url, { token: user.token, ...(json === undefined ? {} : { json }) });
const done = async (user: User, method: string, url: string, json?: unknown): Promise<Answer['body']> =>
  (await doneAs(service, user.token, method, url, json)).body;

const guard = (on = true) =>
  done(owner, 'PATCH', `/projects/${project}/protected_branches/main`, { code_owner_approval_required: on });
const commit = (
  user: User,
  branch: string,
  files: Readonly<Record<string, string | null>>,
  more: object = {},
) =>
  done(user, 'POST', `/projects/${project}/repository/commits`, {
    branch,
    commit_message: 'Change',
    actions: Object.entries(files).map(([file_path, content]) =>
      content === null ? { action: 'delete', file_path } : { action: 'create', file_path, content },
    ),
    ...more,
  });

let branches = 0;
/** A merge request of the author that adds files. */
async function proposeFiles(...files: readonly string[]): Promise<void> {
  const sourceBranch = `b${++branches}`;
  const contents = Object.fromEntries(files.map((file) => [file, `${branches}`]));
  await commit(author, sourceBranch, contents, { start_branch: 'main' });
  iid = await propose(author.id, project, { sourceBranch, targetBranch: 'main' });
  mr = `/projects/${project}/merge_requests/${iid}`;
}

const approve = async (user: User) => (await call(user, 'POST', `${mr}/approve`)).status;
const merge = async () => (await call(owner, 'PUT', `${mr}/merge`)).status;
const rules = async (): Promise<Answer['body'][]> => (await done(dev, 'GET', `${mr}/approval_state`)).rules;
const status = async () => (await done(dev, 'GET', mr)).detailed_merge_status;
/** Of each rule of code owners: section, pattern, approvals that it needs, who may give them, whether it is met. */
const shown = async () =>
  (await rules()).map((rule) => {
    expect(rule).toMatchObject({
      rule_type: 'code_owner',
      code_owner: true,
      report_type: null,
      source_rule: null,
    });
    const names = rule.eligible_approvers.map(({ username }: { username: string }) => username);
    return [rule.section, rule.name, rule.approvals_required, names.join(' '), rule.approved];
  });

let projects = 0;
async function newProject(codeowners: string, more: object = {}): Promise<void> {
  const json = { name: `owned${++projects}`, namespace_id: top, initialize_with_readme: true, ...more };
  project = (await done(owner, 'POST', '/projects', json)).id;
  for (const [user, access_level] of [
    [author, 30],
    [dev, 30],
    [writer, 20],
    [keeper, 40],
  ] as const)
    await done(owner, 'POST', `/projects/${project}/members`, { user_id: user.id, access_level });
  await commit(owner, 'main', { CODEOWNERS: codeowners });
}

beforeAll(async () => {
  service = await startService({ background: false });
  [owner, author, dev, writer, keeper, stranger] = (await Promise.all(
    ['owner', 'author', 'dev', 'writer', 'keeper', 'stranger'].map((name) => service.user(name)),
  )) as [User, User, User, User, User, User];
  top = (await done(owner, 'POST', '/groups', { name: 'top', path: 'top' })).id;
  guests = (await done(owner, 'POST', '/groups', { name: 'guests', path: 'guests' })).id;
  await done(owner, 'POST', `/groups/${guests}/members`, { user_id: dev.id, access_level: 30 });
});
afterAll(() => service.stop());

describe('what a merge request changes that has code owners', () => {
  beforeEach(() => newProject('docs/ @writer\n*.rb @keeper\n[Build]\n*.rb @dev\n^[Style]\n* @dev\n'));

  test('needs an approval for each entry before it is merged, one of Reporters too', async () => {
    await guard();
    await proposeFiles('docs/a.md', 'lib/a.rb');
    expect(await shown()).toEqual([
      ['codeowners', 'docs/', 1, 'writer', false],
      ['codeowners', '*.rb', 1, 'keeper', false],
      ['Build', '*.rb', 1, 'dev', false],
      ['Style', '*', 0, 'dev', true],
    ]);
    expect(await done(dev, 'GET', `${mr}/approvals`)).toMatchObject({
      approved: false,
      approvals_required: 3,
      approvals_left: 3,
      has_approval_rules: true,
      approval_rules_left: [
        { name: 'docs/', rule_type: 'code_owner' },
        { name: '*.rb', rule_type: 'code_owner' },
        { name: '*.rb', rule_type: 'code_owner' },
      ],
    });
    expect([await status(), await merge()]).toEqual(['not_approved', 405]);
    expect(await approve(writer)).toBe(201);
    expect(await approve(keeper)).toBe(201);
    expect([await status(), await merge()]).toEqual(['not_approved', 405]);
    expect(await approve(dev)).toBe(201);
    expect(await done(dev, 'GET', `${mr}/approvals`)).toMatchObject({ approved: true, approvals_left: 0 });
    expect([await status(), await merge()]).toEqual(['mergeable', 200]);
  });

  test('needs none where no rule of the branch asks for code owners, and is shown all the same', async () => {
    await proposeFiles('docs/a.md');
    expect(await shown()).toEqual([
      ['codeowners', 'docs/', 0, 'writer', true],
      ['Style', '*', 0, 'dev', true],
    ]);
    expect([await status(), await merge()]).toEqual(['mergeable', 200]);
  });

  test('is asked for of those who are named, whoever else approves, and asked for again when it is taken back', async () => {
    await guard();
    await proposeFiles('docs/a.md');
    expect(await approve(dev)).toBe(201);
    expect(await approve(author)).toBe(401);
    expect(await merge()).toBe(405);
    expect(await approve(writer)).toBe(201);
    expect(await status()).toBe('mergeable');
    await done(writer, 'POST', `${mr}/unapprove`);
    expect([await status(), await merge()]).toEqual(['not_approved', 405]);
  });

  test('waits for them also where it is to be merged when its pipeline succeeds', async () => {
    await guard();
    await proposeFiles('docs/a.md');
    const { sha } = await done(dev, 'GET', mr);
    await done(author, 'POST', `/projects/${project}/statuses/${sha}`, { state: 'running' });
    const later = async () =>
      (await call(owner, 'PUT', `${mr}/merge`, { merge_when_pipeline_succeeds: true })).status;
    expect(await later()).toBe(405);
    expect(await approve(writer)).toBe(201);
    expect(await later()).toBe(200);
  });

  test('follows the CODEOWNERS of the target branch, not that of the source branch', async () => {
    await proposeFiles('docs/a.md', 'docs/CODEOWNERS');
    const before = await rules();
    expect(before.map(({ name }) => name)).toEqual(['docs/', '*']);
    await commit(owner, 'main', { 'x.txt': 'x' });
    expect((await rules()).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    await done(owner, 'PUT', `/projects/${project}/repository/files/CODEOWNERS`, {
      ...{ branch: 'main', commit_message: 'Owners', content: 'docs/ @keeper\n*.md @dev\n' },
    });
    await guard();
    expect(await shown()).toEqual([
      ['codeowners', 'docs/', 1, 'keeper', false],
      ['codeowners', '*.md', 1, 'dev', false],
    ]);
    expect(await status()).toBe('not_approved');
  });

  test('follows what is pushed to the source branch', async () => {
    await guard();
    await proposeFiles('lib/a.css');
    expect(await status()).toBe('mergeable');
    await commit(author, `b${branches}`, { 'docs/b.md': 'x' });
    expect(await status()).toBe('not_approved');
  });

  test('has owners where the merge puts it, too', async () => {
    const long = Array.from({ length: 30 }, (_, i) => `line ${i}`).join('\n');
    await commit(owner, 'main', { 'plain.txt': long });
    await commit(author, 'late', { 'other.txt': 'x' }, { start_branch: 'main' });
    await done(author, 'PUT', `/projects/${project}/repository/files/plain.txt`, {
      ...{ branch: 'late', commit_message: 'Edit', content: `${long}\nand one more` },
    });
    await done(owner, 'POST', `/projects/${project}/repository/commits`, {
      branch: 'main',
      commit_message: 'Move',
      actions: [{ action: 'move', previous_path: 'plain.txt', file_path: 'docs/plain.txt' }],
    });
    await guard();
    iid = await propose(author.id, project, { sourceBranch: 'late', targetBranch: 'main' });
    mr = `/projects/${project}/merge_requests/${iid}`;
    expect(await shown()).toContainEqual(['codeowners', 'docs/', 1, 'writer', false]);
    expect(await merge()).toBe(405);
  });

  test('is in the list of rules, where nobody changes it', async () => {
    await guard();
    await proposeFiles('docs/a.md');
    await done(author, 'POST', `${mr}/approval_rules`, {
      name: 'own',
      approvals_required: 0,
      user_ids: [dev.id],
    });
    const list = await done(dev, 'GET', `${mr}/approval_rules`);
    expect(list).toMatchObject([
      { name: 'own', rule_type: 'regular', section: null },
      {
        name: 'docs/',
        rule_type: 'code_owner',
        section: 'codeowners',
        approvals_required: 1,
        users: [{ id: writer.id }],
      },
      {
        name: '*',
        rule_type: 'code_owner',
        section: 'Style',
        approvals_required: 0,
        users: [{ id: dev.id }],
      },
    ]);
    const one = `${mr}/approval_rules/${list[1].id}`;
    expect(await done(dev, 'GET', one)).toEqual(list[1]);
    expect((await call(owner, 'PUT', one, { approvals_required: 0 })).status).toBe(403);
    expect((await call(owner, 'DELETE', one)).status).toBe(403);
    expect((await call(dev, 'GET', `${mr}/approval_rules/999999`)).status).toBe(404);
    expect(await status()).toBe('not_approved');
    const project_rules = await done(owner, 'GET', `/projects/${project}/approval_rules`);
    expect(project_rules).toEqual([]);
  });

  test('is found by the approvers that it names', async () => {
    await proposeFiles('docs/a.md');
    const found = async (user: User) =>
      (await done(dev, 'GET', `/projects/${project}/merge_requests?approver_ids[]=${user.id}`)).map(
        ({ iid: of }: { iid: number }) => of,
      );
    await rules();
    expect([await found(writer), await found(keeper)]).toEqual([[iid], []]);
  });
});

describe('code owners', () => {
  test('of a section approve as often as its heading says', async () => {
    await newProject('[Docs][2] @writer @dev\ndocs/\n');
    await guard();
    await proposeFiles('docs/a.md');
    expect(await shown()).toEqual([['Docs', 'docs/', 2, 'writer dev', false]]);
    await approve(writer);
    expect(await merge()).toBe(405);
    await approve(dev);
    expect(await merge()).toBe(200);
  });

  test('are groups that the project is in, or shared with, and no others', async () => {
    await newProject('a.txt @top\nb.txt @Guests\n');
    await guard();
    await proposeFiles('a.txt', 'b.txt');
    expect(await shown()).toEqual([
      ['codeowners', 'a.txt', 1, 'owner', false],
      ['codeowners', 'b.txt', 0, '', true],
    ]);
    await done(owner, 'POST', `/projects/${project}/share`, { group_id: guests, group_access: 30 });
    // The caller sees the group.
    const [, second] = await rules();
    expect(second).toMatchObject({ approvals_required: 1, approved: false });
    expect([await approve(dev), await merge()]).toEqual([201, 405]);
    expect(await approve(owner)).toBe(201);
    expect(await merge()).toBe(200);
  });

  test('who are named while a merge is judged are asked all the same', async () => {
    await newProject('b.txt @dev');
    await guard();
    await proposeFiles('a.txt');
    expect(await status()).toBe('mergeable');
    const { approvalRules } = deps().store;
    const read = approvalRules.forMergeRequest.bind(approvalRules);
    const reading = vi.spyOn(approvalRules, 'forMergeRequest').mockImplementationOnce(async (...of) => {
      await done(owner, 'PUT', `/projects/${project}/repository/files/CODEOWNERS`, {
        ...{ branch: 'main', commit_message: 'Owners', content: 'a.txt @dev' },
      });
      return read(...of);
    });
    expect(await merge()).toBe(405);
    expect(reading.mock.calls.length).toBeGreaterThan(1);
    reading.mockRestore();
    expect(await approve(dev)).toBe(201);
    expect(await merge()).toBe(200);
  });

  test.each<[string, string, number]>([
    ['is no member', 'a.txt @stranger stranger@example.com', 0],
    ['does not exist', 'a.txt @nobody-at-all', 0],
    ['wrote it', 'a.txt @author', 0],
    ['wrote it, beside another', 'a.txt @author @dev', 1],
    ['is found by an address', 'a.txt keeper@example.com', 1],
  ])('make a rule optional that nobody could meet: who %s', async (_, line, required) => {
    await newProject(line);
    await guard();
    await proposeFiles('a.txt');
    expect((await rules()).map(({ approvals_required }) => approvals_required)).toEqual([required]);
    expect(await status()).toBe(required === 0 ? 'mergeable' : 'not_approved');
    expect(JSON.stringify(await rules())).not.toContain('"stranger"');
  });

  test('may be authors and committers where the settings let them approve', async () => {
    await newProject('a.txt @author');
    await guard();
    await done(owner, 'POST', `/projects/${project}/approvals`, { merge_requests_author_approval: true });
    await proposeFiles('a.txt');
    expect(await status()).toBe('not_approved');
    expect(await approve(author)).toBe(201);
    expect(await status()).toBe('mergeable');
    await done(owner, 'POST', `/projects/${project}/approvals`, {
      merge_requests_disable_committers_approval: true,
    });
    expect((await rules())[0]).toMatchObject({ approvals_required: 0, approved_by: [] });
  });

  test('who cannot be found out let nothing be merged', async () => {
    await newProject('* @dev');
    await done(owner, 'PUT', `/projects/${project}/repository/files/CODEOWNERS`, {
      ...{ branch: 'main', commit_message: 'Owners', content: `${'x'.repeat(600)} @dev\n* @dev\n` },
    });
    await proposeFiles('a.txt');
    expect([await status(), (await rules())[0]!.approvals_required]).toEqual(['mergeable', 0]);
    await guard();
    expect(await approve(dev)).toBe(201);
    expect(await shown()).toEqual([['codeowners', 'CODEOWNERS', 1, '', false]]);
    expect([await status(), await merge()]).toEqual(['not_approved', 405]);
  });

  test('whose files are pushed to give their approvals again, by the setting, and others do not', async () => {
    await newProject('docs/ @writer\n*.txt @top\n');
    await done(owner, 'POST', `/projects/${project}/approvals`, {
      reset_approvals_on_push: false,
      selective_code_owner_removals: true,
    });
    await proposeFiles('docs/a.md', 'a.txt');
    for (const user of [writer, owner, keeper]) expect(await approve(user)).toBe(201);
    const approvedBy = async () => {
      await done(author, 'GET', mr);
      const { approved_by } = await done(dev, 'GET', `${mr}/approvals`);
      return approved_by.map(({ user }: { user: { username: string } }) => user.username);
    };
    await commit(author, `b${branches}`, { 'lib.rb': 'x' });
    expect(await approvedBy()).toEqual(['writer', 'owner', 'keeper']);
    await commit(author, `b${branches}`, { 'docs/b.md': 'x' });
    expect(await approvedBy()).toEqual(['owner', 'keeper']);
    await commit(author, `b${branches}`, { 'b.txt': 'x' });
    expect(await approvedBy()).toEqual(['keeper']);
  });

  test('and their rules are nothing that strangers of a private project see', async () => {
    await newProject('a.txt @dev', { visibility: 'private' });
    await proposeFiles('a.txt');
    const [rule] = await rules();
    for (const url of ['approval_state', 'approval_rules', `approval_rules/${rule!.id}`])
      expect((await call(stranger, 'GET', `${mr}/${url}`)).status, url).toBe(404);
  });
});
