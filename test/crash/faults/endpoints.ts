import type { Answer } from '../../harness/service.ts';
import { alertWrites } from './alert-endpoints.ts';
import { approvalWrites } from './approval-endpoints.ts';
import { artifactWrites } from './artifact-endpoints.ts';
import { attributeWrites } from './attribute-endpoints.ts';
import { ciVariableWrites } from './ci-variable-endpoints.ts';
import type { Operation } from './driver.ts';
import { environmentWrites } from './environment-endpoints.ts';
import { epicWrites } from './epic-endpoints.ts';
import { errorTrackingWrites } from './error-tracking-endpoints.ts';
import type { Fixtures, Ground } from './fixtures.ts';
import { groupWrites } from './group-endpoints.ts';
import { hookWrites } from './hook-endpoints.ts';
import { integrationWrites } from './integration-endpoints.ts';
import { invitationWrites } from './invitation-endpoints.ts';
import { issueWrites } from './issue-endpoints.ts';
import { iterationWrites } from './iteration-endpoints.ts';
import { keyWrites } from './key-endpoints.ts';
import { labelWrites } from './label-endpoints.ts';
import { mergeRequestConversationWrites } from './merge-request-conversation-endpoints.ts';
import { mergeRequestWrites } from './merge-request-endpoints.ts';
import { mergingWrites } from './merging-endpoints.ts';
import { milestoneWrites } from './milestone-endpoints.ts';
import { noteWrites } from './note-endpoints.ts';
import { notificationWrites } from './notification-endpoints.ts';
import { packageWrites } from './package-endpoints.ts';
import { pipelineWrites } from './pipeline-endpoints.ts';
import { pipelineScheduleWrites } from './pipeline-schedule-endpoints.ts';
import { projectWrites } from './project-endpoints.ts';
import { relationWrites } from './relation-endpoints.ts';
import { releaseWrites } from './release-endpoints.ts';
import { jobRequestWrites, runnerWrites } from './runner-endpoints.ts';
import { scimWrites } from './scim-endpoints.ts';
import { after, answered, counted, countOf, endpoint, flip, found, type Sent, toldBy } from './sent.ts';
import { settingWrites } from './setting-endpoints.ts';
import { snippetWrites } from './snippet-endpoints.ts';
import { storageMoveWrites } from './storage-move-endpoints.ts';
import { todoWrites } from './todo-endpoints.ts';
import { tokenWrites } from './token-endpoints.ts';
import { userWrites } from './user-endpoints.ts';
import { wikiWrites } from './wiki-endpoints.ts';

/** Every endpoint that writes: a test asks for a line here for each in the OpenAPI document. */
export const writes: readonly Operation[] = [
  endpoint('POST /users', async (fixtures) => {
    const username = fixtures.fresh('user');
    return {
      path: '/users',
      token: fixtures.service.rootToken,
      json: {
        username,
        name: username,
        email: `${username}@example.com`,
        force_random_password: true,
        skip_confirmation: true,
      },
      state: () => counted(fixtures, `/users?username=${username}`, fixtures.service.rootToken),
    };
  }),
  ...tokenWrites,
  ...userWrites,
  ...labelWrites,
  ...milestoneWrites,
  ...packageWrites,
  ...releaseWrites,
  ...wikiWrites,
  ...hookWrites,
  ...integrationWrites,
  ...environmentWrites,
  ...pipelineWrites,
  ...ciVariableWrites,
  ...pipelineScheduleWrites,
  ...errorTrackingWrites,
  ...alertWrites,
  ...iterationWrites,
  ...epicWrites,
  ...snippetWrites,
  ...storageMoveWrites,
  ...noteWrites,
  ...mergeRequestConversationWrites,
  ...todoWrites,
  ...notificationWrites,
  endpoint('POST /projects', async (fixtures) => {
    const { username, token } = await fixtures.owner();
    const name = fixtures.fresh('project');
    return {
      path: '/projects',
      token,
      json: { name },
      state: () => found(fixtures, `/projects/${encodeURIComponent(`${username}/${name}`)}`, token),
    };
  }),
  endpoint('POST /projects/user/:user_id', async (fixtures) => {
    const { id, username, token } = await fixtures.owner();
    const name = fixtures.fresh('project');
    return {
      path: `/projects/user/${id}`,
      token: fixtures.service.rootToken,
      json: { name },
      state: () => found(fixtures, `/projects/${encodeURIComponent(`${username}/${name}`)}`, token),
    };
  }),
  endpoint('DELETE /projects/:id', async (fixtures) => {
    const { id, owner } = await fixtures.ownGround();
    return {
      path: `/projects/${id}`,
      token: owner.token,
      state: async () => flip(await found(fixtures, `/projects/${id}`, owner.token)),
    };
  }),
  ...approvalWrites,
  ...mergingWrites,
  ...groupWrites,
  ...invitationWrites,
  ...issueWrites,
  ...keyWrites,
  ...mergeRequestWrites,
  ...attributeWrites,
  ...settingWrites,
  ...projectWrites,
  ...relationWrites,
  ...runnerWrites,
  ...jobRequestWrites,
  ...artifactWrites,
  ...scimWrites,
  endpoint('POST /projects/:id/members', async (fixtures) => {
    const { id, owner } = await fixtures.ground();
    const user = await fixtures.guest();
    return {
      path: `/projects/${id}/members`,
      token: owner.token,
      json: { user_id: user.id, access_level: 30 },
      state: () => found(fixtures, `/projects/${id}/members/${user.id}`, owner.token),
    };
  }),
  endpoint('PUT /projects/:id/members/:user_id', async (fixtures) => {
    const { id, owner, user } = await withMember(fixtures);
    const path = `/projects/${id}/members/${user.id}`;
    return {
      path,
      token: owner.token,
      json: { access_level: 40 },
      state: async () => {
        const { access_level } = await fixtures.done('GET', path, { token: owner.token });
        return access_level === 40 ? 'after' : access_level === 30 ? 'before' : String(access_level);
      },
    };
  }),
  endpoint('DELETE /projects/:id/members/:user_id', async (fixtures) => {
    const { id, owner, user } = await withMember(fixtures);
    const path = `/projects/${id}/members/${user.id}`;
    return { path, token: owner.token, state: async () => flip(await found(fixtures, path, owner.token)) };
  }),
  endpoint('POST /projects/:id/protected_branches', protecting('branches')),
  endpoint('PATCH /projects/:id/protected_branches/:name', async (fixtures) => {
    const { path, json, token } = await protecting('branches')(fixtures);
    await fixtures.done('POST', path, { token, json });
    const rule = `${path}/${(json as { name: string }).name}`;
    const state = async () =>
      (await fixtures.done('GET', rule, { token })).allow_force_push ? 'after' : 'before';
    return { path: rule, token, json: { allow_force_push: true }, state };
  }),
  endpoint('DELETE /projects/:id/protected_branches/:name', unprotecting('branches')),
  endpoint('POST /projects/:id/protected_tags', protecting('tags')),
  endpoint('DELETE /projects/:id/protected_tags/:name', unprotecting('tags')),
  endpoint('PUT /projects/:id/repository/branches/:branch/protect', async (fixtures) => {
    const { ground, branch } = await withBranch(fixtures);
    const state = async () => ((await branchOf(fixtures, ground, branch)).protected ? 'after' : 'before');
    return { path: repository(ground, `branches/${branch}/protect`), token: ground.owner.token, state };
  }),
  endpoint('PUT /projects/:id/repository/branches/:branch/unprotect', async (fixtures) => {
    const { ground, branch } = await withBranch(fixtures);
    const { token } = ground.owner;
    await fixtures.done('PUT', repository(ground, `branches/${branch}/protect`), { token });
    const state = async () => ((await branchOf(fixtures, ground, branch)).protected ? 'before' : 'after');
    return { path: repository(ground, `branches/${branch}/unprotect`), token, state };
  }),
  endpoint('POST /projects/:id/repository/branches', async (fixtures) => {
    const ground = await fixtures.ground();
    const branch = fixtures.fresh('branch');
    return {
      path: repository(ground, 'branches'),
      token: ground.owner.token,
      json: { branch, ref: 'main' },
      state: async () =>
        after(await refOf(fixtures, ground, `refs/heads/${branch}`), undefined, ground.main[1]),
    };
  }),
  endpoint('DELETE /projects/:id/repository/branches/:branch', async (fixtures) => {
    const { ground, branch } = await withBranch(fixtures);
    return {
      path: repository(ground, `branches/${branch}`),
      token: ground.owner.token,
      state: async () =>
        after(await refOf(fixtures, ground, `refs/heads/${branch}`), ground.main[1], undefined),
    };
  }),
  endpoint('DELETE /projects/:id/repository/merged_branches', async (fixtures) => {
    const { ground, branch } = await withBranch(fixtures);
    return {
      path: repository(ground, 'merged_branches'),
      token: ground.owner.token,
      state: async () => {
        await fixtures.settle();
        return after(await refOf(fixtures, ground, `refs/heads/${branch}`), ground.main[1], undefined);
      },
    };
  }),
  endpoint('POST /projects/:id/repository/tags', async (fixtures) => {
    const ground = await fixtures.ground();
    const tag_name = fixtures.fresh('tag');
    return {
      path: repository(ground, 'tags'),
      token: ground.owner.token,
      json: { tag_name, ref: 'main', message: 'Annotated' },
      state: async () => {
        const tag = await fixtures.service.call('GET', repository(ground, `tags/${tag_name}`), {
          token: ground.owner.token,
        });
        if (tag.status === 404) return 'before';
        return tag.body.message === 'Annotated' && tag.body.commit.id === ground.main[1]
          ? 'after'
          : answered(tag);
      },
    };
  }),
  endpoint('DELETE /projects/:id/repository/tags/:tag_name', async (fixtures) => {
    const ground = await fixtures.ground();
    const { token } = ground.owner;
    const tag_name = fixtures.fresh('tag');
    await fixtures.done('POST', repository(ground, 'tags'), { token, json: { tag_name, ref: 'main' } });
    return {
      path: repository(ground, `tags/${tag_name}`),
      token,
      state: async () =>
        after(await refOf(fixtures, ground, `refs/tags/${tag_name}`), ground.main[1], undefined),
    };
  }),
  endpoint('POST /projects/:id/repository/commits', async (fixtures) => {
    const { ground, branch } = await withBranch(fixtures);
    const actions = [
      { action: 'create', file_path: 'new.txt', content: 'new\n' },
      { action: 'move', file_path: 'moved.txt', previous_path: 'first.txt' },
    ];
    return {
      path: repository(ground, 'commits'),
      token: ground.owner.token,
      json: { branch, commit_message: 'Two changes', actions },
      state: () => grown(fixtures, ground, branch, ['folder/second.txt', 'moved.txt', 'new.txt']),
    };
  }),
  endpoint('POST /projects/:id/repository/commits/:sha/cherry_pick', async (fixtures) => {
    const { ground, branch } = await withBranch(fixtures);
    return {
      path: repository(ground, `commits/${ground.side}/cherry_pick`),
      token: ground.owner.token,
      json: { branch },
      state: () => grown(fixtures, ground, branch, ['first.txt', 'folder/second.txt', 'side.txt']),
    };
  }),
  endpoint('POST /projects/:id/repository/commits/:sha/revert', async (fixtures) => {
    const { ground, branch } = await withBranch(fixtures);
    return {
      path: repository(ground, `commits/${ground.main[1]}/revert`),
      token: ground.owner.token,
      json: { branch },
      state: () => grown(fixtures, ground, branch, ['first.txt']),
    };
  }),
  endpoint('POST /projects/:id/repository/files/:file_path', async (fixtures) => {
    const { ground, branch } = await withBranch(fixtures);
    return {
      path: repository(ground, 'files/new.txt'),
      token: ground.owner.token,
      json: { branch, commit_message: 'New', content: 'new\n' },
      state: () => grown(fixtures, ground, branch, ['first.txt', 'folder/second.txt', 'new.txt']),
    };
  }),
  endpoint('PUT /projects/:id/repository/files/:file_path', async (fixtures) => {
    const { ground, branch } = await withBranch(fixtures);
    return {
      path: repository(ground, 'files/first.txt'),
      token: ground.owner.token,
      json: { branch, commit_message: 'Changed', content: 'changed\n' },
      state: () => grown(fixtures, ground, branch, ['first.txt', 'folder/second.txt']),
    };
  }),
  endpoint('DELETE /projects/:id/repository/files/:file_path', async (fixtures) => {
    const { ground, branch } = await withBranch(fixtures);
    return {
      path: repository(ground, 'files/first.txt'),
      token: ground.owner.token,
      json: { branch, commit_message: 'Gone' },
      state: () => grown(fixtures, ground, branch, ['folder/second.txt']),
    };
  }),
  endpoint('POST /projects/:id/repository/changelog', async (fixtures) => {
    // Those of one project are counted, and too many are refused.
    const { ground, branch } = await withBranch(fixtures, await fixtures.ownGround());
    return {
      path: repository(ground, 'changelog'),
      token: ground.owner.token,
      json: { version: '1.0.0', from: ground.main[0], branch, trailer: 'None' },
      state: () => grown(fixtures, ground, branch, ['CHANGELOG.md', 'first.txt', 'folder/second.txt']),
    };
  }),
  endpoint('POST /projects/:id/repository/commits/:sha/comments', async (fixtures) => {
    const ground = await fixtures.ground();
    const { token } = ground.owner;
    const note = fixtures.fresh('note');
    const path = repository(ground, `commits/${ground.side}/comments`);
    return {
      path,
      token,
      json: { note },
      state: async () => {
        const found = await fixtures.done('GET', `${path}?per_page=100`, { token });
        return countOf(found.filter((one: { note: string }) => one.note === note));
      },
    };
  }),
  // A tag and the note that tells of it, or neither.
  endpoint('POST /projects/:id/repository/commits/:sha/comments', async (fixtures) => {
    const ground = await fixtures.ground();
    const { token } = ground.owner;
    const tag = fixtures.fresh('tag');
    const commit = repository(ground, `commits/${ground.side}`);
    return {
      path: `${commit}/comments`,
      token,
      json: { note: `/tag ${tag} Good` },
      state: async () => {
        const { status } = await fixtures.service.call('GET', repository(ground, `tags/${tag}`), { token });
        const found = await fixtures.done('GET', `${commit}/discussions?per_page=100`, { token });
        const texts = found.flatMap((each: { notes: { body: string }[] }) => each.notes);
        const noted = texts.filter(({ body }: { body: string }) => body.includes(`\`${tag}\``)).length;
        return countOf(status === 200 && noted === 1 ? [tag] : status === 404 && noted === 0 ? [] : [1, 2]);
      },
    };
  }),
  endpoint('POST /projects/:id/statuses/:sha', async (fixtures) => {
    const ground = await fixtures.ground();
    const { token } = ground.owner;
    const name = fixtures.fresh('build');
    return {
      path: `/projects/${ground.id}/statuses/${ground.side}`,
      token,
      json: { state: 'success', name },
      state: () =>
        counted(fixtures, repository(ground, `commits/${ground.side}/statuses?name=${name}`), token),
    };
  }),
  endpoint('POST /projects/:id/fork', async (fixtures) => {
    const { ground, path, fork } = await forkable(fixtures);
    const { token, username } = ground.owner;
    return {
      path: `/projects/${ground.id}/fork`,
      token,
      json: { path, name: path },
      state: async () => {
        await fixtures.settle();
        const answer = await fixtures.service.call('GET', fork, { token });
        if (answer.status === 404) return 'before';
        const { import_status, forked_from_project } = answer.body;
        const tree = await fixtures.service.call('GET', `${fork}/repository/tree?ref=side`, { token });
        const right =
          import_status === 'finished' && forked_from_project?.id === ground.id && tree.body.length === 3;
        return right ? 'after' : `${username}/${path} is ${import_status} with ${JSON.stringify(tree.body)}`;
      },
    };
  }),
  endpoint('POST /projects/:id/fork/:forked_from_id', async (fixtures) => {
    const { ground, path, fork } = await forkable(fixtures);
    const { token } = ground.owner;
    await fixtures.done('POST', '/projects', { token, json: { path, name: path } });
    return {
      path: `${fork}/fork/${ground.id}`,
      token,
      state: async () => after(await sourceOf(fixtures, fork, token), undefined, ground.id),
    };
  }),
  endpoint('DELETE /projects/:id/fork', async (fixtures) => {
    const { ground, path, fork } = await forkable(fixtures);
    const { token } = ground.owner;
    await fixtures.done('POST', '/projects', { token, json: { path, name: path } });
    await fixtures.done('POST', `${fork}/fork/${ground.id}`, { token });
    return {
      path: `${fork}/fork`,
      token,
      state: async () => after(await sourceOf(fixtures, fork, token), ground.id, undefined),
    };
  }),
];

/** Endpoints that read, one of each kind. Their answer must equal the answer without a fault. */
export const reads: readonly Operation[] = [
  'files/folder%2Fsecond.txt?ref=main',
  'files/folder%2Fsecond.txt/raw?ref=main',
  'files/folder%2Fsecond.txt/blame?ref=main',
  'tree?recursive=true',
  'commits?all=true',
  'commits?path=folder',
  'commits/main/diff',
  'compare?from=main&to=side',
  'merge_base?refs[]=main&refs[]=side',
  'branches',
  'tags',
  'contributors',
  'archive.tar?sha=main',
  'archive.zip?sha=side',
].map(
  (path) =>
    ({
      name: `GET /projects/:id/repository/${path.split('?')[0]}`,
      async prepare(fixtures) {
        // Archives of one project are counted, and too many are refused.
        const ground = await (path.startsWith('archive') ? fixtures.ownGround() : fixtures.ground());
        const get = () =>
          fixtures.service.call('GET', repository(ground, path), { token: ground.owner.token });
        let right: Answer | undefined;
        let got: Answer | undefined;
        return {
          async run() {
            // An answer that breaks off is no answer.
            got = await get().catch((error: Error) => {
              if (/terminated|fetch failed/.test(error.message)) return undefined;
              throw error;
            });
            return got === undefined ? { kind: 'unavailable', words: 'broken off' } : toldBy(got);
          },
          async state() {
            right ??= await get();
            if (got?.status !== 200) return 'before';
            return JSON.stringify(got.body) === JSON.stringify(right.body) ? 'after' : 'another answer';
          },
        };
      },
    }) satisfies Operation,
);

const repository = ({ id }: Ground, path: string) => `/projects/${id}/repository/${path}`;

async function withMember(fixtures: Fixtures) {
  const ground = await fixtures.ground();
  const user = await fixtures.guest();
  const json = { user_id: user.id, access_level: 30 };
  await fixtures.done('POST', `/projects/${ground.id}/members`, { token: ground.owner.token, json });
  return { ...ground, user };
}

/** A name for a fork of a project, and how it is asked for. */
async function forkable(fixtures: Fixtures): Promise<{ ground: Ground; path: string; fork: string }> {
  const ground = await fixtures.ground();
  const path = fixtures.fresh('fork');
  return { ground, path, fork: `/projects/${encodeURIComponent(`${ground.owner.username}/${path}`)}` };
}

const sourceOf = async (fixtures: Fixtures, fork: string, token: string): Promise<number | undefined> =>
  (await fixtures.done('GET', fork, { token })).forked_from_project?.id;

function protecting(kind: 'branches' | 'tags') {
  return async (fixtures: Fixtures): Promise<Sent> => {
    const { id, owner } = await fixtures.ground();
    const name = fixtures.fresh('protected');
    return {
      path: `/projects/${id}/protected_${kind}`,
      token: owner.token,
      json: { name },
      state: () => found(fixtures, `/projects/${id}/protected_${kind}/${name}`, owner.token),
    };
  };
}

function unprotecting(kind: 'branches' | 'tags') {
  return async (fixtures: Fixtures): Promise<Sent> => {
    const { path, json, token, state } = await protecting(kind)(fixtures);
    await fixtures.done('POST', path, { token, json });
    const { name } = json as { name: string };
    return { path: `${path}/${name}`, token, state: async () => flip(await state()) };
  };
}

async function withBranch(fixtures: Fixtures, own?: Ground): Promise<{ ground: Ground; branch: string }> {
  const ground = own ?? (await fixtures.ground());
  const branch = fixtures.fresh('branch');
  const json = { branch, ref: 'main' };
  await fixtures.done('POST', repository(ground, 'branches'), { token: ground.owner.token, json });
  return { ground, branch };
}

const branchOf = (fixtures: Fixtures, ground: Ground, branch: string) =>
  fixtures.done('GET', repository(ground, `branches/${branch}`), { token: ground.owner.token });

export async function refOf(
  { store }: Fixtures,
  { repositoryId }: Ground,
  name: string,
): Promise<string | undefined> {
  const { refs } = await store.repositories.open(repositoryId).all();
  return refs.find((ref) => ref.name === name)?.oid;
}

/** One commit on top of `main`, with these files. */
async function grown(
  fixtures: Fixtures,
  ground: Ground,
  branch: string,
  files: readonly string[],
): Promise<string> {
  const options = { token: ground.owner.token };
  const { commit } = await branchOf(fixtures, ground, branch);
  if (commit.id === ground.main[1]) return 'before';
  const tree = await fixtures.done('GET', repository(ground, `tree?recursive=true&ref=${branch}`), options);
  const held = (tree as { type: string; path: string }[]).flatMap(({ type, path }) =>
    type === 'blob' ? [path] : [],
  );
  const right = commit.parent_ids.join() === ground.main[1] && held.sort().join() === files.join();
  return right ? 'after' : `${commit.parent_ids} ${held}`;
}
