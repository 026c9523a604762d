import type { AccessLevel, MemberSource } from '../../lib/records/members.ts';
import type { TokenScope } from '../../lib/records/tokens.ts';
import { projectKey } from '../../lib/store/row-keys/projects.ts';
import type { Store } from '../../lib/store/store.ts';
import type { Answer, Service } from '../harness/service.ts';
import { storeOf } from '../harness/world.ts';

/** The columns of the matrix, the least privileged first. */
export const COLUMNS = [
  ['anon', 'nobody signed in'],
  ['strg', 'signed in, a member of nothing here'],
  ['extn', 'the same, as an external user'],
  ['gust', 'Guest'],
  ['rept', 'Reporter'],
  ['dev', 'Developer'],
  ['main', 'Maintainer'],
  ['ownr', 'Owner: of the group above'],
  ['admn', 'administrator'],
  ['inhr', 'Developer in the group above'],
  ['shrd', 'Maintainer of a group that was invited as Reporter'],
  ['blkd', 'a Maintainer whose account is blocked'],
  ['rusr', 'the Owner with a token of the scope `read_user` alone'],
  ['rapi', 'the Owner with a token of the scope `read_api` alone'],
] as const;
export type Column = (typeof COLUMNS)[number][0];

/** What the rows are about. */
export const SUBJECTS = [
  'public',
  'internal',
  'private',
  /** A public project that is archived. */
  'archived',
  /** A public project whose repository is switched off. */
  'off',
  /** A public project whose repository is for its members. */
  'members',
] as const;
export type Subject = (typeof SUBJECTS)[number];

/** Words that stand in nothing but what some may not know. */
export const MARKS = {
  /** Names, paths and descriptions of the private project and group. */
  private: 'sesame',
  /** The private project's branches, tags, files and messages, on top of that. */
  code: 'sesamecode',
  /** A private group that everything is shared with. */
  invited: 'clubword',
  /** The internal ones. */
  internal: 'innerword',
  /** Confidential issues of every project. */
  confidential: 'hushword',
  /** The email address of a user who publishes none. */
  email: 'mailmark',
} as const;

/** Values for the braces of a request. */
export type Names = Readonly<Record<string, string | number>>;

/** Everybody who asks, and everything they ask about. */
export interface Fixtures {
  readonly service: Service;
  readonly store: Store;
  readonly tokens: Readonly<Record<Column, string | undefined>>;
  readonly names: Names;
  readonly projects: Readonly<Record<Subject, Names>>;
  readonly groups: Readonly<Record<'public' | 'internal' | 'private', Names>>;
}

const ROLES = { gust: 10, rept: 20, dev: 30, main: 40, blkd: 40, pawn: 10 } as const;

export async function makeFixtures(service: Service): Promise<Fixtures> {
  const store = storeOf();
  const users = Object.fromEntries(
    await Promise.all(
      ['strg', 'extn', 'gust', 'rept', 'dev', 'main', 'ownr', 'inhr', 'shrd', 'blkd', 'pawn', 'spare'].map(
        async (name) => {
          const more = { external: name === 'extn', ...(name === 'pawn' ? { email: PAWN_EMAIL } : {}) };
          return [name, await service.user(name, more)] as const;
        },
      ),
    ),
  );
  const id = (name: string) => users[name]!.id;
  const owner = users['ownr']!.token;
  const made = async (path: string, json: unknown, token = owner) =>
    done(await service.call('POST', path, { token, json }), path);
  const join = (kind: MemberSource['kind'], sourceId: number, levels: Record<string, number>) =>
    Promise.all(
      Object.entries(levels).map(([name, level]) =>
        store.members.add({
          source: { kind, id: sourceId },
          userId: id(name),
          accessLevel: level as AccessLevel,
          createdAt: '2021-01-01T00:00:00.000Z',
          expiresAt: null,
          createdById: null,
        }),
      ),
    );

  const friends = await made('/groups', { name: MARKS.invited, path: MARKS.invited });
  await join('group', friends.id, { shrd: 40 });
  // Callers may create here, where the name `taken` is in use.
  const pens = await made('/groups', { name: 'pens', path: 'pens', visibility: 'public' });
  const everybody = ['strg', 'extn', 'gust', 'rept', 'dev', 'main', 'inhr', 'shrd'];
  await join('group', pens.id, Object.fromEntries(everybody.map((name) => [name, 40])));
  await made('/projects', { name: 'taken', namespace_id: pens.id });

  const above: Record<string, { id: number }> = {};
  for (const visibility of ['public', 'internal', 'private'] as const) {
    above[visibility] = await made('/groups', {
      name: `above ${wordOf(visibility)}`,
      path: `above-${wordOf(visibility)}`,
      visibility,
    });
    await join('group', above[visibility]!.id, { inhr: 30 });
  }
  const today = '2021-01-01T00:00:00.000Z';
  const share = { groupId: friends.id, accessLevel: 20 as const, expiresAt: null, createdAt: today };

  const makeProject = async (subject: Subject): Promise<Names> => {
    const visibility = subject === 'internal' || subject === 'private' ? subject : 'public';
    const word = wordOf(visibility);
    const branch = subject === 'private' ? `trunk-${MARKS.code}` : 'main';
    const project = await made('/projects', {
      name: `thing ${word} ${subject}`,
      path: `thing-${word}-${subject}`,
      description: `about ${word}`,
      visibility,
      namespace_id: above[visibility]!.id,
      default_branch: branch,
    });
    await join('project', project.id, ROLES);
    const code = subject === 'private' ? MARKS.code : word;
    const repository = `/projects/${project.id}/repository`;
    const commit = await made(`${repository}/commits`, {
      branch,
      commit_message: `Begin ${code}\n\nChangelog: added`,
      actions: [
        { action: 'create', file_path: 'README.md', content: `# ${code}\n` },
        { action: 'create', file_path: 'LICENSE', content: `All ${code} reserved\n` },
      ],
    });
    const root = done(
      await service.call('GET', `${repository}/tree?ref=${branch}`, { token: owner }),
      repository,
    );
    await made(`${repository}/branches`, { branch: `side-${code}`, ref: branch });
    await made(`${repository}/tags`, { tag_name: `v1-${code}`, ref: branch, message: code });
    await made(`/projects/${project.id}/protected_tags`, { name: `guarded-${code}-*` });
    const issues = `/projects/${project.id}/issues`;
    await made(issues, { title: `Work on ${word}`, weight: 1 });
    const weighed = `${issues}/1/resource_weight_events`;
    const weights = done(await service.call('GET', weighed, { token: owner }), weighed);
    await made(issues, { title: `Work on ${MARKS.confidential}`, confidential: true });
    await made(issues, { title: `Superfluous ${word}` });
    const talk = await made(`${issues}/1/discussions`, { body: `About ${word}` });
    const secret = await made(`${issues}/1/notes`, { body: MARKS.confidential, internal: true });
    const praise = await made(`${issues}/1/award_emoji`, { name: 'heart' });
    const nod = await made(`${issues}/1/notes/${talk.notes[0].id}/award_emoji`, { name: 'heart' });
    await made(`${issues}/2/notes`, { body: MARKS.confidential });
    const snippets = `/projects/${project.id}/snippets`;
    const file = { file_path: 'a.txt', content: word };
    const snippet = { title: `Snippet ${word}`, visibility: 'internal', files: [file] };
    const snip = await made(snippets, snippet);
    const chat = await made(`${snippets}/${snip.id}/discussions`, { body: `About ${word}` });
    const chatSaid = `${snippets}/${snip.id}/notes/${chat.notes[0].id}`;
    const snipPraise = await made(`${snippets}/${snip.id}/award_emoji`, { name: 'heart' });
    const snipNod = await made(`${chatSaid}/award_emoji`, { name: 'heart' });
    const proposed = `proposed-${code}`;
    await made(`${repository}/commits`, {
      branch: proposed,
      start_branch: branch,
      commit_message: `Propose ${code}`,
      actions: [{ action: 'create', file_path: `${code}.md`, content: `${code}\n` }],
    });
    const proposals = `/projects/${project.id}/merge_requests`;
    await made(proposals, { title: `Merge ${code}`, source_branch: proposed, target_branch: branch });
    const superfluous = {
      title: `Superfluous ${code}`,
      source_branch: proposed,
      target_branch: `side-${code}`,
    };
    await made(proposals, superfluous);
    const review = await made(`${proposals}/1/discussions`, { body: `About ${code}` });
    const proposalPraise = await made(`${proposals}/1/award_emoji`, { name: 'heart' });
    const proposalNote = `${proposals}/1/notes/${review.notes[0].id}`;
    const proposalNod = await made(`${proposalNote}/award_emoji`, { name: 'heart' });
    const discussion = await made(`${repository}/commits/${commit.id}/discussions`, { body: code });
    const record = (await store.projects.get(project.id))!;
    const settings: Record<string, unknown> = { ...record.settings };
    if (subject === 'off') settings['repository_access_level'] = 'disabled';
    if (subject === 'members') settings['repository_access_level'] = 'private';
    await store.projects.update(record, { archived: subject === 'archived', settings });
    await store.table.update({ update: projectKey(project.id), set: { shares: [share] } });
    return {
      id: project.id,
      path: encodeURIComponent(project.path_with_namespace),
      parent: above[visibility]!.id,
      branch,
      side: `side-${code}`,
      tag: `v1-${code}`,
      guarded: encodeURIComponent(`guarded-${code}-*`),
      sha: commit.id,
      talk: talk.id,
      said: talk.notes[0].id,
      secret: secret.id,
      praise: praise.id,
      nod: nod.id,
      weighed: weights[0].id,
      snip: snip.id,
      snip_talk: chat.id,
      snip_said: chat.notes[0].id,
      snip_praise: snipPraise.id,
      snip_nod: snipNod.id,
      proposed,
      proposal_talk: review.id,
      proposal_said: review.notes[0].id,
      proposal_praise: proposalPraise.id,
      proposal_nod: proposalNod.id,
      discussion: discussion.id,
      remark: discussion.notes[0].id,
      blob: root.find((entry: { path: string }) => entry.path === 'README.md').id,
    };
  };
  const makeGroup = async (visibility: 'public' | 'internal' | 'private'): Promise<Names> => {
    const word = wordOf(visibility);
    const group = await made('/groups', {
      name: `house ${word}`,
      path: `house-${word}`,
      description: `about ${word}`,
      parent_id: above[visibility]!.id,
      visibility,
    });
    await join('group', group.id, ROLES);
    await made(`/groups/${group.id}/share`, { group_id: friends.id, group_access: 20 });
    const room = { name: `room ${word}`, path: `room-${word}`, parent_id: group.id, visibility };
    const subgroup = await made('/groups', room);
    const project = await made('/projects', { name: `inside ${word}`, namespace_id: group.id, visibility });
    // What is private stands in everything.
    const den = { name: `den ${MARKS.private}`, path: `den-${MARKS.private}`, parent_id: group.id };
    await made('/groups', den);
    await made('/projects', {
      name: `hole ${MARKS.private}`,
      namespace_id: group.id,
      topics: [MARKS.private],
    });
    return {
      id: group.id,
      path: encodeURIComponent(group.full_path),
      parent: above[visibility]!.id,
      subgroup: subgroup.id,
      project: project.id,
    };
  };

  const projects = {} as Record<Subject, Names>;
  for (const subject of SUBJECTS) projects[subject] = await makeProject(subject);
  const groups = {} as Record<'public' | 'internal' | 'private', Names>;
  for (const visibility of ['public', 'internal', 'private'] as const)
    groups[visibility] = await makeGroup(visibility);
  await made(`/projects/${projects.public['id']}/fork`, {
    namespace_id: above['private']!.id,
    name: `fork ${MARKS.private}`,
    path: `fork-${MARKS.private}`,
  });

  const page = { file_path: 'a.txt', content: 'Dear diary' };
  const diary = await made('/snippets', { title: 'Diary', visibility: 'private', files: [page] });

  const blocked = (await store.users.get(id('blkd')))!;
  await store.users.update(blocked, { state: 'blocked' });
  const root = done(await service.call('GET', '/user', { token: service.rootToken }), '/user');
  const pawnToken = await tokenOf(service, id('pawn'), 'api');
  return {
    service,
    store,
    tokens: {
      ...(Object.fromEntries(Object.entries(users).map(([name, { token }]) => [name, token])) as Record<
        Column,
        string
      >),
      anon: undefined,
      admn: service.rootToken,
      rusr: (await tokenOf(service, id('ownr'), 'read_user')).token,
      rapi: (await tokenOf(service, id('ownr'), 'read_api')).token,
    },
    names: {
      ...Object.fromEntries(Object.entries(users).map(([name, user]) => [name, user.id])),
      admn: root.id,
      friends: friends.id,
      pens: pens.id,
      pawn_token: pawnToken.id,
      diary: diary.id,
    },
    projects,
    groups,
  };
}

const PAWN_EMAIL = `pawn-${MARKS.email}@example.com`;

const wordOf = (visibility: 'public' | 'internal' | 'private') =>
  visibility === 'public' ? 'open' : MARKS[visibility];

/** A token of a user's with these scopes alone. */
export async function tokenOf(
  service: Service,
  userId: number,
  ...scopes: TokenScope[]
): Promise<{ id: number; token: string }> {
  const path = `/users/${userId}/personal_access_tokens`;
  const json = { name: scopes.join(' '), scopes };
  return done(await service.call('POST', path, { token: service.rootToken, json }), path);
}

/** @throws when it was refused */
export function done({ status, body }: Answer, what: string): Answer['body'] {
  if (status >= 300) throw new Error(`${what}: ${status} ${JSON.stringify(body)}`);
  return body;
}
