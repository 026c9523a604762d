import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Answer, call as callAny, eventually, gitIn, makeUser, withCredentials } from './client.ts';
import type { Deployed, Told } from './story.ts';

/** What a team does with an issue: it is filed, discussed, moved and closed, and workers tell those it concerns. */
export async function issuesStory({ tally, url, mailTo }: Deployed, { root }: Told): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), 'lemnos-issues-'));
  const api = `${url}/api/v4`;
  const git = gitIn(work);
  let lead = '';
  let helper = '';
  let onlooker = '';
  const project = '/projects/lead%2Fboat';
  const call = (method: string, path: string, body?: object, token = lead) =>
    callAny(`${api}${path}`, { method, token, ...(body === undefined ? {} : { body }) });
  const done = async (status: number, ...asked: Parameters<typeof call>): Promise<Answer> => {
    const answer = await call(...asked);
    assert.equal(answer.status, status, answer.text);
    return answer;
  };
  const list = async (path: string, token: string): Promise<Record<string, unknown>[]> =>
    JSON.parse((await done(200, 'GET', path, undefined, token)).text);
  const mailOf = async (who: string) => (await mailTo(`${who}@example.com`)).join('\n');

  try {
    await tally.step('an issue is filed with a label, a milestone and an assignee', async () => {
      [lead, helper, onlooker] = [
        await makeUser(api, root, 'lead'),
        await makeUser(api, root, 'helper'),
        await makeUser(api, root, 'onlooker'),
      ];
      await done(201, 'POST', '/projects', { name: 'boat', visibility: 'private' });
      const { json: me } = await done(200, 'GET', '/user', undefined, helper);
      await done(201, 'POST', `${project}/members`, { user_id: me['id'], access_level: 30 });
      await done(201, 'POST', `${project}/labels`, { name: 'leak', color: '#112233' });
      const { json: spring } = await done(201, 'POST', `${project}/milestones`, { title: 'Spring' });
      const { json: issue } = await done(201, 'POST', `${project}/issues`, {
        ...{ title: 'The hull leaks', description: `- [ ] find it, @helper\n${'Wet. '.repeat(10_000)}` },
        ...{ labels: 'leak', milestone_id: spring['id'], assignee_ids: [me['id']] },
      });
      assert.deepEqual([issue['iid'], issue['labels']], [1, ['leak']]);
      const filed = await list(`${project}/issues?labels=leak&milestone=Spring`, helper);
      assert.equal(filed.length, 1);
      // A text of this length lies in the bucket.
      assert.match(String(filed[0]!['description']), /^- \[ \] find it, @helper\n(Wet\. ){10000}$/);
      await done(404, 'GET', `${project}/issues/1`, undefined, onlooker);
    });

    await tally.step('workers tell whom it concerns: mail, to-dos, search', async () => {
      await eventually(async () => {
        assert.match(await mailOf('helper'), /created issue #1/);
        const todos = await list('/todos', helper);
        // One for each issue, however many reasons there are.
        assert.deepEqual(
          todos.map((todo) => todo['action_name']),
          ['assigned'],
        );
        const found = await list('/search?scope=issues&search=hull', helper);
        assert.deepEqual(
          found.map(({ title }) => title),
          ['The hull leaks'],
        );
      });
      assert.deepEqual(await list('/search?scope=issues&search=hull', onlooker), []);
    });

    await tally.step('it is discussed, with a file, and a note acts on it', async () => {
      const form = new FormData();
      form.set('file', new Blob([PICTURE]), 'leak.png');
      const headers = { 'PRIVATE-TOKEN': helper };
      const sent = await fetch(`${api}${project}/uploads`, { method: 'POST', headers, body: form });
      const text = await sent.text();
      assert.equal(sent.status, 201, text);
      const { markdown, full_path } = JSON.parse(text);
      const file = await fetch(`${url}${full_path}`, { headers });
      assert.deepEqual(Buffer.from(await file.arrayBuffer()), PICTURE);
      assert.equal((await fetch(`${url}${full_path}`)).status, 401);
      const unseen = await fetch(`${url}${full_path}`, { headers: { 'PRIVATE-TOKEN': onlooker } });
      assert.equal(unseen.status, 404);

      const thread = await done(201, 'POST', `${project}/issues/1/discussions`, { body: 'Where is it?' });
      const reply = `${project}/issues/1/discussions/${thread.json['id']}/notes`;
      const { json: note } = await done(201, 'POST', reply, { body: `@lead, here: ${markdown}` }, helper);
      await done(201, 'POST', `${project}/issues/1/notes/${note['id']}/award_emoji`, { name: 'eyes' });
      const acted = { body: '/spend 2h\n/title The hull leaks at the bow' };
      await done(202, 'POST', `${project}/issues/1/notes`, acted, helper);
      const { json: issue } = await done(200, 'GET', `${project}/issues/1`);
      assert.equal(issue['title'], 'The hull leaks at the bow');
      assert.equal(issue['user_notes_count'], 2);
      const html = await done(201, 'POST', '/markdown', {
        ...{ text: 'See #1', gfm: true, project: 'lead/boat' },
      });
      assert.match(String(html.json['html']), /<a [^>]*issues\/1/);
      await eventually(async () => {
        assert.match(await mailOf('lead'), /commented on issue #1/);
        const [todo] = await list('/todos', lead);
        assert.equal(todo?.['action_name'], 'directly_addressed');
      });
    });

    await tally.step('a commit that git pushes closes it', async () => {
      mkdirSync(join(work, 'boat'));
      await git('boat', 'init', '--quiet', '--initial-branch=main');
      await git('boat', 'commit', '--quiet', '--allow-empty', '-m', 'Caulk the bow', '-m', 'Closes #1');
      await git('boat', 'push', '--quiet', withCredentials(`${url}/lead/boat.git`, 'lead', lead), 'main');
      await eventually(async () => {
        const { json: issue } = await done(200, 'GET', `${project}/issues/1`);
        assert.equal(issue['state'], 'closed');
        assert.match(await mailOf('helper'), /closed issue #1/);
      });
      const { json: totals } = await done(200, 'GET', `${project}/issues_statistics`);
      assert.deepEqual(totals['statistics'], { counts: { all: 1, closed: 1, opened: 0 } });
      const [event] = await list(`${project}/issues/1/resource_state_events`, helper);
      assert.equal(event!['state'], 'closed');
    });

    await tally.step(
      'it moves to a project of a group with what was said, and an epic is planned',
      async () => {
        const { json: group } = await done(201, 'POST', '/groups', { name: 'Fleet', path: 'fleet' });
        const { json: to } = await done(201, 'POST', '/projects', {
          name: 'yard',
          namespace_id: group['id'],
        });
        await done(200, 'PUT', `${project}/issues/1`, { state_event: 'reopen' });
        const moved = await done(201, 'POST', `${project}/issues/1/move`, { to_project_id: to['id'] });
        await eventually(async () => {
          const notes = await list(`/projects/${to['id']}/issues/${moved.json['iid']}/notes`, lead);
          assert.ok(notes.some(({ body }) => body === 'Where is it?'));
          const [here] = await list('/search?scope=issues&search=hull&state=opened', lead);
          assert.equal(here?.['project_id'], to['id']);
        });
        assert.equal((await list('/groups/fleet/issues', lead)).length, 1);
        const { json: epic } = await done(201, 'POST', '/groups/fleet/epics', { title: 'Ships that float' });
        await done(201, 'POST', `/groups/fleet/epics/${epic['id']}/notes`, { body: 'All of them.' });
        await done(204, 'DELETE', `${project}/labels/leak`);
        await done(204, 'DELETE', `${project}/issues/1`);
      },
    );
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Not text: it must pass the gateway as it is. */
const PICTURE = Buffer.from('\x89PNG\r\n\x1a\n\0\xff\xfe', 'latin1');
