import { join } from 'node:path';
import { ZERO_OID } from '../../lib/git/oid.ts';
import { startedWiki, writingPages, writingSnippets } from './beside-code-writers.ts';
import { call, commitFile, done, installLargePush, type Outcome, WorkTree } from './client.ts';
import { cloning, forking, uploading } from './content-writers.ts';
import { type ExpectedState, Fact } from './expected-state.ts';
import type { Host } from './host.ts';
import { tracking } from './issue-writers.ts';
import { type Person, type Project, person, startedProject } from './people.ts';
import { proposing } from './proposal-writers.ts';
import { pushTogether } from './push-together.ts';
import { commenting, configuring, grouping, outcomeOf, tokening } from './subject-writers.ts';

const API_COMMITTERS = 4;
const PUSHERS = 3;
/** Above 90 refs a push is a new ref table. */
const BULK_REFS = 120;

/** Who writes, and with what. */
export interface Fixtures {
  readonly ada: Person;
  readonly bob: Person;
  readonly shared: Project;
  /** Where issues move to. */
  readonly tracked: Project;
  readonly trees: readonly WorkTree[];
  /** Pushes refs that are made and deleted again. */
  readonly refTree: WorkTree;
  /** Pushes many refs at once. */
  readonly bulkTree: WorkTree;
  /** Pushes by upload, for one of the uploaders: an upload that was cut off keeps its place for a day. */
  readonly uploadTree: WorkTree;
  readonly uploaders: readonly Person[];
  /** Of the wiki of {@link shared}. */
  readonly wikiTree: WorkTree;
  /** Gets a mail of each comment on {@link talkedOf}. */
  readonly reader: Person;
  /** The commit that is commented on. */
  readonly talkedOf: string;
  /** Where clones are made and read. */
  readonly folder: string;
}

export async function introduce(
  url: string,
  folder: string,
  expectedState: ExpectedState,
): Promise<Fixtures> {
  const ada = await person(url, 'ada', expectedState);
  const bob = await person(url, 'bob', expectedState);
  const shared = await startedProject(url, ada, 'shared', expectedState);
  const tracked = await startedProject(url, ada, 'tracked', expectedState);
  const remote = { url, token: ada.token, fullPath: shared.fullPath };
  const trees: WorkTree[] = [];
  for (let i = 0; i < PUSHERS + 3; i++) trees.push(await WorkTree.clone(join(folder, `tree-${i}`), remote));
  const uploaders = [await person(url, 'una', expectedState), await person(url, 'ugo', expectedState)];
  for (const { id } of uploaders) {
    const json = { user_id: id, access_level: 40 };
    done(await call(url, ada.token, 'POST', `/projects/${shared.id}/members`, json));
    expectedState.member(shared.id, id).acknowledge(40);
  }
  const reader = await person(url, 'rea', expectedState);
  done(
    await call(url, ada.token, 'POST', `/projects/${shared.id}/members`, {
      user_id: reader.id,
      access_level: 20,
    }),
  );
  expectedState.member(shared.id, reader.id).acknowledge(20);
  done(
    await call(url, reader.token, 'PUT', `/projects/${shared.id}/notification_settings`, { level: 'watch' }),
  );
  const [[talkedOf]] = [...expectedState.commits.get(shared.id)!] as [[string, string]];
  expectedState.state('setting after_sign_up_text', '(none)');
  expectedState.state(`description ${shared.id}`, '(none)');
  const wikiTree = await startedWiki(url, ada, shared, join(folder, 'wiki'), expectedState);
  await installLargePush(url, folder);
  const [refTree, bulkTree, uploadTree, ...others] = trees as [WorkTree, WorkTree, WorkTree];
  return {
    ...{ ada, bob, shared, tracked, trees: others, refTree, bulkTree, uploadTree, uploaders },
    ...{ wikiTree, reader, talkedOf, folder },
  };
}

/** Whether users, groups, tokens, settings, comments, issues, pages of wikis and snippets are written in this round, and not refs. */
const ofSubjects = (round: number): boolean => round % 2 === 0;

/** Everybody whose turn it is writes until the host is gone. Resolves when the last of them has noticed. */
export async function write(
  host: Host,
  fixtures: Fixtures,
  expectedState: ExpectedState,
  round: number,
  note: (what: string, outcome: Outcome<unknown>) => void,
): Promise<void> {
  const { ada, bob, shared } = fixtures;
  const remote = { url: host.url, token: ada.token, fullPath: shared.fullPath };
  const until = async (what: string, step: (name: string) => Promise<Outcome<unknown>>) => {
    for (let n = 0; host.alive && n < 500; n++) note(what, await step(`${round}-${n}`));
  };

  const commits = Array.from(
    { length: API_COMMITTERS },
    (_, i) => () =>
      until('commits', async (name) => {
        const path = `api/${i}/${name}.txt`;
        const outcome = await commitFile(host.url, ada.token, shared, 'main', path);
        if (outcome.kind === 'done') expectedState.committed(shared.id, 'main', outcome.value, path);
        return outcome;
      }),
  );

  const pushes = fixtures.trees.map(
    (tree, i) => () =>
      until('pushes', async () => {
        const branch = `push/${i}`;
        const names = [`refs/heads/${branch}`, `refs/heads/twin/${i}`];
        const { commit, path } = await tree.commit(`push-${i}`);
        const outcome = await pushTogether(tree, remote, shared, names, commit, expectedState);
        if (outcome.kind === 'done') expectedState.committed(shared.id, branch, commit, path);
        return outcome;
      }),
  );

  // So many refs that the service writes them as a table, while everybody else has to wait.
  const bulk = () =>
    until('pushes of many refs', async (name) => {
      const path = `bulk-${name}`;
      const made = await call(host.url, ada.token, 'POST', '/projects', { name: path, path });
      if (made.kind !== 'done') return made;
      note('pushes of many refs', made);
      const project = { id: made.value.id as number, fullPath: `${ada.username}/${path}` };
      expectedState.projects.set(project.fullPath, { id: project.id, present: new Fact(true) });
      const { bulkTree } = fixtures;
      const names = Array.from({ length: BULK_REFS }, (_, i) => `refs/tags/bulk/${i}`);
      const target = { ...remote, fullPath: project.fullPath };
      const tip = await bulkTree.git('rev-parse', 'HEAD');
      return pushTogether(bulkTree, target, project, ['refs/heads/main', ...names], tip, expectedState);
    });

  const refs = () =>
    until('tags', async (name) => {
      const ref = `refs/tags/t${name}`;
      const fact = expectedState.ref(shared.id, ref);
      const tip = await fixtures.refTree.git('rev-parse', 'HEAD');
      fact.attempt(tip);
      const made = await fixtures.refTree.push(remote, `HEAD:${ref}`);
      fact.settle(tip, made);
      if (made.kind !== 'done') return made;
      note('tags', made);
      fact.attempt(ZERO_OID);
      const deleted = await fixtures.refTree.push(remote, `:${ref}`);
      fact.settle(ZERO_OID, deleted);
      return deleted;
    });

  const people = () =>
    until('people', async (name) => {
      try {
        await person(host.url, `user-${name}`, expectedState);
        return { kind: 'done', value: undefined };
      } catch (error) {
        return outcomeOf(error as Error);
      }
    });

  const projects = () =>
    until('projects', async (name) => {
      const path = `project-${name}`;
      const made = await call(host.url, ada.token, 'POST', '/projects', { name: path, path });
      if (made.kind !== 'done') return made;
      note('projects', made);
      const present = new Fact(true);
      expectedState.projects.set(`${ada.username}/${path}`, { id: made.value.id, present });
      const id = made.value.id as number;
      const first = await commitFile(host.url, ada.token, { id }, 'main', 'first.txt');
      if (first.kind === 'done') expectedState.committed(id, 'main', first.value, 'first.txt');
      if (first.kind !== 'done' || Number(name.split('-')[1]) % 2 === 0) return first;
      note('projects', first);
      present.attempt(false);
      const deleted = await call(host.url, ada.token, 'DELETE', `/projects/${id}`);
      present.settle(false, deleted);
      return deleted;
    });

  const members = () =>
    until('members', async () => {
      const fact = expectedState.member(shared.id, bob.id);
      const path = `/projects/${shared.id}/members`;
      const is = [...fact.possible];
      // After a cut-off write only the service knows.
      if (is.length > 1) {
        const found = await call(host.url, ada.token, 'GET', `${path}/${bob.id}`);
        if (found.kind === 'done') fact.acknowledge(found.value.access_level);
        else if (found.kind === 'refused') fact.acknowledge(0);
        return found.kind === 'refused' ? { kind: 'done', value: undefined } : found;
      }
      const wanted = is[0] === 0 ? 30 : 0;
      fact.attempt(wanted);
      const outcome =
        wanted === 30
          ? await call(host.url, ada.token, 'POST', path, { user_id: bob.id, access_level: 30 })
          : await call(host.url, ada.token, 'DELETE', `${path}/${bob.id}`);
      fact.settle(wanted, outcome);
      return outcome;
    });

  const groups = () => {
    const counted = (outcome: Outcome<unknown>) => note('changes of groups', outcome);
    return until('changes of groups', grouping(host, fixtures, expectedState, counted));
  };
  const tokens = () => until('tokens', tokening(host, fixtures, expectedState));
  const settings = () => until('settings', configuring(host, fixtures, expectedState));
  const comments = () => until('comments', commenting(host, fixtures, expectedState));
  const issues = () => {
    const counted = (outcome: Outcome<unknown>) => note('issues', outcome);
    return until('issues', tracking(host, fixtures, expectedState, counted));
  };
  const proposals = () => {
    const counted = (outcome: Outcome<unknown>) => note('changes of merge requests', outcome);
    return until('changes of merge requests', proposing(host, fixtures, expectedState, counted));
  };
  const pages = () => {
    const counted = (outcome: Outcome<unknown>) => note('pages of wikis', outcome);
    return until('pages of wikis', writingPages(host, fixtures, expectedState, counted));
  };
  const snippets = () => {
    const counted = (outcome: Outcome<unknown>) => note('snippets', outcome);
    return until('snippets', writingSnippets(host, fixtures, expectedState, counted));
  };
  const forks = () => until('forks', forking(host, fixtures, expectedState));
  const clones = () => until('clones', cloning(host, fixtures, expectedState));
  const uploads = () => until('uploads', uploading(host, fixtures, expectedState, round));

  // In turns, or on a busy machine nobody gets anything done before the next kill.
  const inTurn = ofSubjects(round)
    ? [
        ...commits.slice(0, 2),
        people,
        projects,
        members,
        groups,
        tokens,
        settings,
        comments,
        issues,
        proposals,
        pages,
        snippets,
      ]
    : [...commits, ...pushes, bulk, refs, forks, clones, uploads, proposals];
  await Promise.all(inTurn.map((writer) => writer()));
}
