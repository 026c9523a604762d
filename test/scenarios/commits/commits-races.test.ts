import { afterAll, beforeAll, expect, test } from 'vitest';
import { GitCli, withToken } from '../../clients/git-cli.ts';
import { type Service, startService } from '../../harness/service.ts';

const git = new GitCli();
let service: Service;
let token: string;
beforeAll(async () => {
  service = await startService();
  token = (await service.user('ada')).token;
});
afterAll(async () => {
  await service.stop();
  git[Symbol.dispose]();
});

async function project(
  name: string,
): Promise<(method: string, path: string, json?: object) => ReturnType<Service['call']>> {
  const made = await service.call('POST', '/projects', { token, json: { name, visibility: 'public' } });
  return (method, path, json) =>
    service.call(method, `/projects/${made.body.id}/repository${path}`, {
      token,
      ...(json === undefined ? {} : { json }),
    });
}
const base = { branch: 'main', commit_message: 'm' };

test('ten files created at once on one branch are all kept, each in its own commit', async () => {
  const send = await project('ten');
  await send('POST', '/files/first', { ...base, content: 'x' });
  const names = Array.from({ length: 10 }, (_, index) => `dir/${index}`);
  const answers = await Promise.all(
    names.map((name) => send('POST', `/files/${encodeURIComponent(name)}`, { ...base, content: name })),
  );
  expect(answers.map((answer) => answer.status)).toEqual(names.map(() => 201));
  const clone = await git.clone(withToken(service.url, 'ada/ten'), 'ten');
  expect(await git.lines(clone, 'ls-tree', '-r', '--name-only', 'main')).toEqual([...names, 'first']);
  expect((await git.lines(clone, 'log', '--format=%H', '--first-parent')).length).toBe(11);
});

test('simultaneous first commits of an empty repository give one history; the losers get an error', async () => {
  const send = await project('firsts');
  const answers = await Promise.all(
    ['a', 'b', 'c', 'd'].map((name) => send('POST', `/files/${name}`, { ...base, content: name })),
  );
  const made = answers.filter((answer) => answer.status === 201).length;
  expect(made).toBeGreaterThan(0);
  for (const answer of answers.filter((each) => each.status !== 201)) {
    expect([answer.status, answer.body]).toEqual([
      400,
      { message: 'Could not update refs/heads/main. Please refresh and try again.' },
    ]);
  }
  const clone = await git.clone(withToken(service.url, 'ada/firsts'), 'firsts');
  expect((await git.lines(clone, 'ls-tree', '--name-only', 'main')).length).toBe(made);
});

test('two updates bound to the same last commit never both succeed', async () => {
  const send = await project('guarded');
  await send('POST', '/files/f', { ...base, content: '0' });
  for (let round = 0; round < 5; round++) {
    const seen = (await send('GET', '/files/f?ref=main')).body.last_commit_id;
    const answers = await Promise.all(
      ['a', 'b', 'c'].map((who) =>
        send('PUT', '/files/f', { ...base, content: `${round}${who}`, last_commit_id: seen }),
      ),
    );
    const won = answers.flatMap((answer, index) => (answer.status === 200 ? [index] : []));
    expect(won.length).toBe(1);
    for (const answer of answers.filter((each) => each.status !== 200)) {
      expect(answer.status).toBe(400);
      expect(answer.body.message).toMatch(
        /^(You are attempting to update a file that has changed|Could not update refs\/heads\/main\.)/,
      );
    }
    expect((await send('GET', '/files/f/raw')).body).toBe(`${round}${'abc'[won[0]!]}`);
  }
  const clone = await git.clone(withToken(service.url, 'ada/guarded'), 'guarded');
  expect((await git.lines(clone, 'log', '--format=%H')).length).toBe(6);
});

test('in a race of updates, creates and deletes at one path every success is a commit in the history', async () => {
  const send = await project('mixed');
  await send('POST', '/files/f', { ...base, content: '0' });
  const answers = await Promise.all([
    send('PUT', '/files/f', { ...base, content: '1' }),
    send('PUT', '/files/f', { ...base, content: '2' }),
    send('DELETE', '/files/f', base),
    send('POST', '/files/f', { ...base, content: '3' }),
    send('POST', '/commits', { ...base, actions: [{ action: 'move', previous_path: 'f', file_path: 'g' }] }),
    send('POST', '/commits', { ...base, actions: [{ action: 'create', file_path: 'h', content: 'h' }] }),
  ]);
  expect(answers.every((answer) => [200, 201, 204, 400].includes(answer.status))).toBe(true);
  const done = answers.filter((answer) => answer.status < 300).length;
  const clone = await git.clone(withToken(service.url, 'ada/mixed'), 'mixed');
  expect((await git.lines(clone, 'log', '--first-parent', '--format=%H')).length).toBe(done + 1);
});

test('one of several simultaneous requests creates a branch or tag, the others get an error', async () => {
  const send = await project('names');
  await send('POST', '/files/f', { ...base, content: '0' });
  const both = await Promise.all(
    [0, 1, 2].map(() => send('POST', '/branches', { branch: 'b', ref: 'main' })),
  );
  expect(both.map((answer) => answer.status).toSorted()).toEqual([201, 400, 400]);
  expect(both.find((answer) => answer.status === 400)!.body).toEqual({ message: 'Branch already exists' });
  const tags = await Promise.all(
    [0, 1, 2].map((n) => send('POST', '/tags', { tag_name: 't', ref: 'main', message: `m${n}` })),
  );
  expect(tags.map((answer) => answer.status).toSorted()).toEqual([201, 400, 400]);
  expect(tags.find((answer) => answer.status === 400)!.body).toEqual({ message: 'Tag t already exists' });
  // `x` and `x/y` cannot both be.
  const nested = await Promise.all(
    ['x', 'x/y'].map((branch) => send('POST', '/branches', { branch, ref: 'main' })),
  );
  expect(nested.map((answer) => answer.status).toSorted()).toEqual([201, 400]);
  await git.clone(withToken(service.url, 'ada/names'), 'names', '--mirror');
});

test('a push that loses against an API commit fetches, retries, and nothing is lost', async () => {
  const send = await project('both');
  await send('POST', '/files/f', { ...base, content: '0' });
  const url = withToken(service.url, 'ada/both', token);
  const clone = await git.clone(url, 'both');
  let pushed = 0;
  const pushing = (async () => {
    for (let n = 0; n < 3; n++) {
      await git.ok(clone, 'commit', '--quiet', '--allow-empty', '-m', `push ${n}`);
      for (let attempt = 0; attempt < 20; attempt++) {
        const run = await git.run(['push', '--quiet', 'origin', 'main'], { cwd: clone });
        if (run.code === 0) {
          pushed++;
          break;
        }
        await git.ok(clone, 'pull', '--quiet', '--rebase', 'origin', 'main');
      }
    }
  })();
  const made = [];
  for (let n = 0; n < 12; n++) made.push(await send('POST', `/files/api${n}`, { ...base, content: 'x' }));
  await pushing;
  expect([pushed, made.map((answer) => answer.status)]).toEqual([3, made.map(() => 201)]);
  await git.ok(clone, 'pull', '--quiet', '--rebase', 'origin', 'main');
  const subjects = await git.lines(clone, 'log', '--format=%s');
  expect(subjects.toSorted()).toEqual([...Array(13).fill('m'), 'push 0', 'push 1', 'push 2'].toSorted());
  await git.sound(clone);
});
